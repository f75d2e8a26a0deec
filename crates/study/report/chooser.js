// Shows the answers of `sealwright-lab advise`, all of which were computed when the page was made.
(() => {
  'use strict';
  const form = document.getElementById('chooser-form');
  const answer = document.getElementById('chooser-answer');
  const { texts, advice, answers } = JSON.parse(document.getElementById('chooser-data').textContent);

  const element = (name, text) => {
    const made = document.createElement(name);
    made.textContent = text;
    return made;
  };
  const list = (head, lines) => {
    if (lines.length === 0) return [];
    const items = document.createElement('ul');
    items.append(...lines.map((line) => element('li', texts[line])));
    return [element('h3', head), items];
  };

  const show = () => {
    const { bytes, sessions, hardware, ad, misuse, commit } = form.elements;
    const needs = [ad, misuse, commit].map((box) => Number(box.checked));
    const found = advice[answers[[bytes.value, sessions.value, hardware.value, ...needs].join('/')]];
    const take = element('p', '');
    take.className = 'take';
    take.append('Use ', element('strong', texts[found.suite]), `: ${texts[found.scheme_words]}.`);
    const figures = document.createElement('dl');
    for (const [what, figure] of found.numbers) {
      const pair = document.createElement('div');
      pair.append(element('dt', texts[what]), element('dd', texts[figure]));
      figures.append(pair);
    }
    answer.replaceChildren(
      take,
      ...list('Why', found.why),
      ...(found.numbers.length ? [element('h3', 'Figures'), figures] : []),
      ...list('Notes', found.mind),
    );
  };

  form.addEventListener('change', show);
  form.addEventListener('submit', (event) => event.preventDefault());
  show();
})();
