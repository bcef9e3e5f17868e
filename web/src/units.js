// Numbers as people read them. Rates follow the unit that the reader chose.

export const UNITS = {
  'MiB/s': { name: 'MiB/s', bytes: 1024 ** 2 },
  'MB/s': { name: 'MB/s', bytes: 1e6 },
  'ops/s': { name: 'ops/s', bytes: 0 },
};
export const state = { unit: 'MiB/s' };

// Four significant digits, "1,167", "0.04213".
export function number(value, digits = 4) {
  if (value === null || value === undefined || !Number.isFinite(value)) return '–';
  if (value === 0) return '0';
  const rounded = Number((value * (1 + 1e-12)).toPrecision(digits));  // halves up, as in common/text/units.cc
  const size = Math.abs(rounded);
  if (size < 1e-4 || size >= 1e15) return rounded.toExponential(digits - 1);
  const decimals = Math.max(0, digits - 1 - Math.floor(Math.log10(size)));
  const [whole, fraction] = size.toFixed(decimals).split('.');
  const grouped = whole.replace(/\B(?=(\d{3})+$)/g, ',');
  return (rounded < 0 ? '−' : '') + grouped + (fraction ? `.${fraction}` : '');
}

export const count = (value) => (Number.isFinite(value) ? Math.round(value).toLocaleString('en-US') : '–');
export const plural = (value, noun) => `${count(value)} ${noun}${value === 1 ? '' : 's'}`;
export const percent = (value) => (Number.isFinite(value) ? `${number(value, 3)} %` : '–');

function scaled(value, steps, digits) {
  if (value === null || !Number.isFinite(value)) return '–';
  if (value === 0) return `0 ${steps[steps.length - 1][1]}`;
  const [factor, unit] = steps.find(([limit]) => Math.abs(value) >= limit) ?? steps[steps.length - 1];
  return `${number(value / factor, digits)} ${unit}`;
}

const TIMES = [[1, 's'], [1e-3, 'ms'], [1e-6, 'µs'], [1e-9, 'ns']];
const SIZES = [[1024 ** 4, 'TiB'], [1024 ** 3, 'GiB'], [1024 ** 2, 'MiB'], [1024, 'KiB'], [1, 'B']];
export const seconds = (value) => scaled(value, TIMES, 3).replace(/\.0+ /, ' ');
export const micros = (value) => seconds(value === null || value === undefined ? null : Number((value * 1e-6).toPrecision(12)));
// Sizes are mostly powers of two: "64 KiB", not "64.00 KiB".
export const size = (value) => scaled(value, SIZES, 4).replace(/\.0+ /, ' ');

// Metadata operations have no bytes, and seeks are counted: their rates are always ops/s.
export function unitOf(phase) {
  return phase.headline_in_ops ? UNITS['ops/s'] : UNITS[state.unit];
}

// The figure of {bytes_per_s, ops_per_s} in the chosen unit.
export function rateIn(unit, rates) {
  if (unit.bytes === 0) return rates.ops_per_s;
  return rates.bytes_per_s === null ? NaN : rates.bytes_per_s / unit.bytes;
}

// The unit in which a phase's series of single clients or lanes can be shown: they are in bytes/s, or ops/s for
// metadata operations.
export function seriesUnit(phase) {
  if (phase.headline_in_ops) return { name: 'ops/s', factor: 1 };
  const unit = UNITS[state.unit].bytes === 0 ? UNITS['MiB/s'] : UNITS[state.unit];
  return { name: unit.name, factor: 1 / unit.bytes };
}
