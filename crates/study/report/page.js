// Draws every figure in the colours of the page, and again when the colours change.
(() => {
  'use strict';
  const plots = [...document.querySelectorAll('[data-plot]')];

  const draw = (plot) => {
    const style = getComputedStyle(document.documentElement);
    const text = document.getElementById(plot.dataset.plot).textContent;
    const coloured = text.replace(/var\((--[a-z0-9-]+)\)/g, (_, name) => style.getPropertyValue(name).trim());
    const { data, layout, config } = JSON.parse(coloured);
    // On a touch screen, scrolling the page must not zoom a plot under the finger
    if (matchMedia('(pointer: coarse)').matches) layout.dragmode = false;
    if (plot.clientWidth < 480) layout.font.size = 11;
    if (document.documentElement.classList.contains('printing')) layout.width = 660;
    return Plotly.react(plot, data, layout, config);
  };

  const drawAll = () => Promise.all(plots.map(draw)).then(() => document.documentElement.classList.add('drawn'));
  drawAll();
  matchMedia('(prefers-color-scheme: dark)').addEventListener('change', drawAll);
  // In print, the background is white and the width is fixed
  addEventListener('beforeprint', () => {
    document.documentElement.classList.add('printing');
    drawAll();
  });
  addEventListener('afterprint', () => {
    document.documentElement.classList.remove('printing');
    drawAll();
  });
})();
