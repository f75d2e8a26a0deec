// Sorts and filters the table of claims, opens what a link leads to, and unfolds everything for print.
(() => {
  'use strict';
  const table = document.getElementById('claims-table');
  const form = document.getElementById('filters');
  const shown = document.getElementById('shown');
  const rows = [...table.tBodies[0].rows];

  const filter = () => {
    const { study, kind, verdict } = form.elements;
    const fits = (row) =>
      (!study.value || row.dataset.study === study.value) &&
      (!kind.value || row.dataset.kind.split(' ').includes(kind.value)) &&
      (!verdict.value || row.dataset.verdict === verdict.value);
    for (const row of rows) row.hidden = !fits(row);
    const count = rows.filter((row) => !row.hidden).length;
    shown.textContent = `${count} of ${rows.length} claims`;
  };

  const key = (row, column, name) => {
    if (name === 'rank') return Number(row.dataset.rank);
    const cell = row.cells[column];
    return (cell.querySelector('summary') || cell).textContent.trim().toLowerCase() || '\uffff';
  };

  // A button in each head, so that the keyboard reaches it
  [...table.tHead.rows[0].cells].forEach((head, column) => {
    const button = document.createElement('button');
    button.type = 'button';
    button.textContent = head.textContent;
    head.replaceChildren(button);
    button.addEventListener('click', () => {
      const down = head.getAttribute('aria-sort') === 'ascending';
      for (const other of table.tHead.rows[0].cells) other.removeAttribute('aria-sort');
      head.setAttribute('aria-sort', down ? 'descending' : 'ascending');
      const sign = down ? -1 : 1;
      const name = head.dataset.sort;
      const order = (a, b) => {
        const [x, y] = [key(a, column, name), key(b, column, name)];
        return sign * (x < y ? -1 : x > y ? 1 : rows.indexOf(a) - rows.indexOf(b));
      };
      table.tBodies[0].append(...[...rows].sort(order));
    });
  });

  const open = () => {
    const target = location.hash.length > 1 && document.getElementById(decodeURIComponent(location.hash.slice(1)));
    if (!target) return;
    if (target.hidden) {
      form.reset();
      filter();
    }
    for (let at = target; at; at = at.parentElement) if (at.tagName === 'DETAILS') at.open = true;
    const own = target.matches('tr') && target.querySelector('details');
    if (own) own.open = true;
    target.scrollIntoView();
  };

  form.addEventListener('change', filter);
  form.addEventListener('submit', (event) => event.preventDefault());
  addEventListener('hashchange', open);
  addEventListener('beforeprint', () => document.querySelectorAll('main details').forEach((one) => (one.open = true)));
  // On a narrow screen the contents are a bar that unfolds, and folds again after a choice
  const contents = document.querySelector('.contents details');
  const narrow = matchMedia('(max-width: 70rem)');
  const fold = () => (contents.open = !narrow.matches);
  narrow.addEventListener('change', fold);
  contents.addEventListener('click', (event) => event.target.matches('a') && fold());
  fold();
  filter();
  open();
  document.documentElement.classList.add('drawn');
})();
