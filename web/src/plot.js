// plotly.js with the kinds of charts that the page has, in the page's colours.
import Plotly from 'plotly.js/lib/core';
import bar from 'plotly.js/lib/bar';
import contour from 'plotly.js/lib/contour';
import heatmap from 'plotly.js/lib/heatmap';
import scatter3d from 'plotly.js/lib/scatter3d';
import surface from 'plotly.js/lib/surface';
import { micros } from './units.js';

Plotly.register([bar, contour, heatmap, scatter3d, surface]);

const css = (name) => getComputedStyle(document.documentElement).getPropertyValue(name).trim();

// Colours that people with any kind of colour blindness can tell apart (Okabe and Ito).
export const palette = () => ['--series-1', '--series-2', '--series-3', '--series-4', '--series-5', '--series-6'].map(css);
export const colour = (name) => css(`--${name}`);
export const SCALE = 'Viridis';

function axis(settings) {
  return {
    gridcolor: css('--grid'), zerolinecolor: css('--grid'), linecolor: css('--line'), tickcolor: css('--line'),
    automargin: true, ticks: 'outside', ticklen: 4, exponentformat: 'SI', fixedrange: false, ...settings,
    title: { text: settings?.title ?? '', font: { size: 12, color: css('--muted') }, standoff: 8 },
  };
}

export function layout({ x, y, height = 300, shapes = [], annotations = [], legend = false, ...rest }) {
  return {
    height, shapes,
    annotations: annotations.map((note) => ({
      showarrow: false, font: { size: 11, color: css('--muted') }, ...note })),
    margin: { l: 56, r: 16, t: 22, b: 44 },
    paper_bgcolor: css('--card'), plot_bgcolor: 'rgba(0,0,0,0)',
    font: { family: css('--font'), size: 12, color: css('--text') },
    hoverlabel: { font: { family: css('--font'), size: 12 }, namelength: 60 },
    showlegend: legend, legend: { orientation: 'h', traceorder: 'normal', y: 1.02, yanchor: 'bottom', x: 0, font: { size: 11 } },
    colorway: palette(), xaxis: axis(x), yaxis: axis(y), ...rest,
  };
}

// A logarithmic axis of latencies in µs, labelled "100 µs", "1 ms" …
export function latencyAxis(title, settings = {}) {
  const powers = Array.from({ length: 11 }, (_, i) => 10 ** (i - 1));
  return { title, type: 'log', tickvals: powers, ticktext: powers.map((us) => micros(us)), ...settings };
}

// A name that fits below a bar.
export const shortName = (text) => plain(text.length > 16 ? `${text.slice(0, 15)}…` : text);

export function scene({ x, y, z }) {
  const side = (settings) => ({
    gridcolor: css('--grid'), color: css('--text'), ...settings,
    title: { text: settings.title, font: { size: 11, color: css('--muted') } } });
  return { xaxis: side(x), yaxis: side(y), zaxis: side(z), camera: { eye: { x: -1.65, y: -1.65, z: 0.95 }, center: { x: 0, y: 0, z: -0.18 } } };
}

export function colourBar(title) {
  return {
    title: { text: title, side: 'right', font: { size: 11, color: css('--muted') } }, thickness: 12, outlinewidth: 0,
    tickfont: { size: 11 }, exponentformat: 'SI' };
}

// Plotly reads a few tags in texts: names must not contain any.
export const plain = (text) => String(text).replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('>', '&gt;');

export async function draw(place, { traces, layout: settings }) {
  await Plotly.react(place, traces, settings, { displayModeBar: false, responsive: true, doubleClick: 'reset' });
}

export const erase = (place) => Plotly.purge(place);

export async function savePng(place, name) {
  const box = place.getBoundingClientRect();
  await Plotly.downloadImage(place, {
    format: 'png', filename: name, width: Math.round(box.width), height: Math.round(box.height), scale: 2 });
}
