// Phases as a reader counts them: the repetitions of one, or its rounds in a soak or until steady, are one row.
import { number, rateIn, state, unitOf, UNITS } from './units.js';

const keyOf = (phase) => [phase.name, phase.operation, phase.record_bytes, phase.bytes_per_lane, phase.lane_count, phase.target,
  phase.headline_in_ops].join('\n');

// {phases, name, repeated: its figures, as in RepetitionReport, or null: measured once}. A name that other rows have too is
// told from theirs by the phase's number.
export function rowsOf(report, phases = report.phases) {
  const groups = new Map();
  for (const phase of phases) groups.set(keyOf(phase), [...(groups.get(keyOf(phase)) ?? []), phase]);
  const rows = [...groups.values()].flatMap((members) => {
    const rounds = new Set(members.map((phase) => phase.repetition));
    if (members.length === 1 || rounds.size < members.length) return members.map((phase) => ({ phases: [phase], repeated: null, name: phase.shown_name }));
    return [{ phases: members, repeated: figuresOf(report, members[0]), name: members[0].name }];
  });
  const names = new Map();
  for (const { name } of rows) names.set(name, (names.get(name) ?? 0) + 1);
  return rows.map((row) => (names.get(row.name) > 1 ? { ...row, name: `${row.name} #${row.phases[0].index}` } : row))
    .sort((a, b) => a.phases[0].index - b.phases[0].index);
}

// Of a soak only the median over the rounds is known, of rounds until steady the mean of their window.
function figuresOf(report, { name }) {
  const repeated = (report.repetitions ?? []).find((entry) => entry.name === name);
  if (repeated) return repeated;
  const steady = report.steady?.rows?.find((entry) => entry.name === name);
  if (steady) return { count: steady.rounds.length, median: steady.mean ?? NaN, low: NaN, high: NaN, metadata: steady.in_ops };
  const trend = report.soak?.trends?.find((entry) => entry.phase === name);
  return { count: trend?.rounds ?? 0, median: trend?.median ?? NaN, low: NaN, high: NaN, metadata: trend?.in_ops ?? false };
}

// Of repetitions, only the figure that counts is known: bytes/s, or ops/s of metadata operations.
export const unitOfRow = ({ phases: [phase], repeated }) => (repeated && !phase.headline_in_ops && UNITS[state.unit].bytes === 0 ? UNITS['MiB/s'] : unitOf(phase));

const inUnit = (unit, value) => (!Number.isFinite(value) ? NaN : unit.bytes === 0 ? value : value / unit.bytes);

// {value, low, high} in the unit of the row.
export function rateOfRow(row) {
  const unit = unitOfRow(row), { repeated } = row;
  if (!repeated) return { value: rateIn(unit, row.phases[0].headline), low: NaN, high: NaN };
  return { value: inUnit(unit, repeated.median), low: inUnit(unit, repeated.low), high: inUnit(unit, repeated.high) };
}

export function intervalText(row) {
  const { low, high } = rateOfRow(row), { level_percent: level } = row.repeated ?? {};
  return Number.isFinite(low) ? `${number(low)} to ${number(high)}${level ? ` (${number(level, 3)} %)` : ''}` : '';
}
