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

// The limits of a colour scale that begins at 0: plotly.js takes one of them only together with the other.
export const fromZero = (z, top = 0) => ({ zmin: 0, zmax: top || z.flat().reduce((a, b) => (Number.isFinite(b) ? Math.max(a, b) : a), 0) || 1 });

// Viridis at 0, 1/8 … 1.
const VIRIDIS = ['#440154', '#472d7b', '#3b528b', '#2c728e', '#21918c', '#28ae80', '#5ec962', '#addc30', '#fde725'];

function channels(text) {
  const hex = /^#(..)(..)(..)$/.exec(text);
  return hex ? hex.slice(1).map((part) => parseInt(part, 16)) : text.match(/[\d.]+/g).slice(0, 3).map(Number);
}

// Black or white, whichever is easier to read on a place of a scale: one of them always has a contrast of 4.5 or more.
export function inkAt(share, stops = VIRIDIS) {
  const at = Math.min(Math.max(share, 0), 1) * (stops.length - 1), low = Math.floor(at), high = Math.ceil(at);
  const [from, to] = [channels(stops[low]), channels(stops[high])];
  const linear = from.map((value, i) => {
    const part = (value + (to[i] - value) * (at - low)) / 255;
    return part <= 0.03928 ? part / 12.92 : ((part + 0.055) / 1.055) ** 2.4;
  });
  const light = 0.2126 * linear[0] + 0.7152 * linear[1] + 0.0722 * linear[2];
  return (light + 0.05) / 0.05 > 1.05 / (light + 0.05) ? '#000000' : '#ffffff';
}

// Texts on the cells of a heat map, each in the ink that is readable there.
export const cellTexts = (x, y, texts, inks) => ({
  type: 'scatter', mode: 'text', showlegend: false, hoverinfo: 'skip',
  x: y.flatMap(() => x), y: y.flatMap((value) => x.map(() => value)), text: texts.flat(), textfont: { size: 11, color: inks.flat() } });

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

// Within a few decades, the powers of ten alone would be few ticks.
export function latencyTicks(values) {
  const [low, high] = [Math.min(...values), Math.max(...values)];
  const steps = high / low < 100 ? [1, 2, 5] : [1];
  const ticks = Array.from({ length: 11 }, (_, i) => 10 ** (i - 1)).flatMap((power) => steps.map((step) => step * power));
  return { tickvals: ticks, ticktext: ticks.map((us) => micros(us)) };
}

// A name that fits below a bar.
export const shortName = (text) => plain(text.length > 16 ? `${text.slice(0, 15)}…` : text);

export function scene({ x, y, z }) {
  const side = (settings) => ({
    gridcolor: css('--grid'), color: css('--text'), ...settings,
    title: { text: settings.title, font: { size: 11, color: css('--muted') } } });
  return { xaxis: side(x), yaxis: side(y), zaxis: side(z), camera: { eye: { x: -1.65, y: -1.65, z: 0.95 }, center: { x: 0, y: 0, z: -0.18 } } };
}

// Round heights for the third axis, up to about `top`; the label of 0 would lie on that of another axis.
export function heights(top) {
  const power = 10 ** Math.floor(Math.log10(top / 4)), step = [1, 2, 5, 10].map((part) => part * power).find((value) => top / value <= 5);
  return Array.from({ length: Math.floor(top / step) }, (_, i) => (i + 1) * step);
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

export const relayout = (place, change) => Plotly.relayout(place, change);

export const erase = (place) => Plotly.purge(place);

// The picture has the title, which on the page stands beside the chart.
export async function savePng(place, name, title) {
  const box = place.getBoundingClientRect(), extra = 34, { margin } = place.layout;
  const settings = { ...place.layout, height: place.layout.height + extra, margin: { ...margin, t: margin.t + extra },
    title: { text: plain(title), x: 0, xref: 'container', xanchor: 'left', y: 1, yref: 'container', yanchor: 'top', pad: { t: 12, l: 12 }, font: { size: 15, color: css('--text') } } };
  await Plotly.downloadImage({ data: place.data, layout: settings }, {
    format: 'png', filename: name, width: Math.round(box.width), height: settings.height, scale: 2 });
}
