// The command that repeats one cell of a sweep: the run's own one, with the options that made the sweep replaced.
import { size } from './units.js';

// Options of the sweep, with whether a value follows.
const SWEEP_OPTIONS = {
  '-a': false, '--auto': false, '-z': false, '--all-records': false, '-A': false, '--auto-read-write': false,
  '-n': true, '--min-size': true, '-g': true, '--max-size': true, '-y': true, '--min-record': true, '-q': true,
  '--max-record': true, '-+x': true, '--multiplier': true, '-i': true, '--op': true, '-r': true, '--record': true,
  '-s': true, '--size': true, '--out': true };

// Splits as a POSIX shell does, without expansions. Each word also has the text that it came from.
export function shellWords(text) {
  const words = [];
  const pattern = /\s*((?:[^\s"'\\]|\\.|"(?:[^"\\]|\\.)*"|'[^']*')+)/gy;
  for (let match; (match = pattern.exec(text)) !== null;) {
    const value = match[1].replace(/\\(.)|"((?:[^"\\]|\\.)*)"|'([^']*)'/g,
      (_, escaped, double, single) => escaped ?? single ?? double.replace(/\\(.)/g, '$1'));
    words.push({ value, source: match[1] });
  }
  return words;
}

function isOfSweep(word) {
  if (word in SWEEP_OPTIONS) return SWEEP_OPTIONS[word] ? 'takes value' : 'alone';
  const long = /^(--[a-z-]+)=/.exec(word);
  if (long && SWEEP_OPTIONS[long[1]]) return 'alone';
  const joined = /^(-\+?[a-zA-Z])./.exec(word);  // "-s4m"
  return joined && !word.startsWith('--') && SWEEP_OPTIONS[joined[1]] ? 'alone' : '';
}

const exactSize = (bytes) => size(bytes).replace(/,/g, '').replace(/ ([KMGT])iB$/, (_, letter) => letter.toLowerCase());
const asOption = (bytes) => {
  for (const [factor, letter] of [[1024 ** 3, 'g'], [1024 ** 2, 'm'], [1024, 'k']]) {
    if (bytes % factor === 0) return `${bytes / factor}${letter}`;
  }
  return exactSize(bytes).replace(' B', '');
};

const recordsAsOption = ({ records = [], record_bytes: bytes }) => (records.length === 0 ? asOption(bytes)
  : records.map((share) => `${asOption(share.record_bytes)}:${share.percent}`).join(','));

const quoted = (text) => (/^[\w@%+=:,./-]+$/.test(text) ? text : `'${text.replaceAll("'", "'\\''")}'`);

// The command without its paths; null if it names them in another way than with --path or by themselves.
function withoutPaths(words, paths) {
  const kept = [];
  let removed = 0;
  for (let i = 0; i < words.length; ++i) {
    const { value } = words[i];
    if (value === '--each-path') continue;
    if (value === '--path') ++i;
    else if (!value.startsWith('--path=') && !paths.includes(value)) {
      kept.push(words[i]);
      continue;
    }
    ++removed;
  }
  return removed === paths.length ? kept : null;
}

// `paths`: of all targets; with --each-path, the command has that of the phase only. Empty: the options do not say what the
// phase does, such as in a run that was made from a plan or suite.
export function commandOf(command, phase, paths = []) {
  const words = shellWords(command);
  if (words.some(({ value }) => /^--(plan|suite)\b/.test(value))) return '';
  const others = phase.target ? withoutPaths(words, paths) : words;
  if (others === null) return '';
  const kept = [];
  for (let i = 0; i < others.length; ++i) {
    const found = isOfSweep(others[i].value);
    if (found === 'takes value') ++i;
    if (!found) kept.push(others[i].source);
  }
  return [...kept, ...(phase.target ? [`--path ${quoted(phase.target)}`] : []), `--op ${phase.operation}`, `-r ${recordsAsOption(phase)}`, `-s ${asOption(phase.bytes_per_lane)}`].join(' ');
}
