// An ESLint rule against regular expressions with superlinear time. recheck finds some that eslint-plugin-regexp misses, and the reverse.
// Verdicts are cached, as some take seconds.
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { dirname } from 'node:path';
import { checkSync } from 'recheck';

const cacheFile = new URL('../node_modules/.cache/linear-patterns.json', import.meta.url).pathname;
/** Milliseconds per pattern. An undecided one is left to eslint-plugin-regexp, and checked again the next time: the machine may be busy. */
const timeout = 10_000;
/** Quantifiers without an upper bound. Without one of these, the time is bounded for any text. */
const unbounded = /[*+]|\{\d+,\}/;
/** Counts above 9, and what has braces or digits that are none: escapes and classes. */
const largeCounts = /\\[pPu]\{[^}]*\}?|\\.|\[(?:\\.|[^\\\]])*\]?|\{(?:\d+,)?\d{2,}\}/gs;

const verdicts = new Map(Object.entries(readCache()));
/** Not again for each file that has the same pattern. */
const undecided = new Set();

function readCache() {
  try {
    return JSON.parse(readFileSync(cacheFile, 'utf8'));
  } catch {
    return {};
  }
}

/** Returns how the time grows if it is known to be superlinear, otherwise undefined. */
function superLinear(source, flags) {
  if (!unbounded.test(source)) return undefined;
  const name = `/${source}/${flags}`;
  if (!verdicts.has(name) && !undecided.has(name)) {
    const { status, complexity } = analyse(source, flags);
    if (status === 'unknown') {
      undecided.add(name);
    } else {
      verdicts.set(name, status === 'vulnerable' ? complexity.summary : '');
      mkdirSync(dirname(cacheFile), { recursive: true });
      writeFileSync(cacheFile, JSON.stringify(Object.fromEntries(verdicts)));
    }
  }
  return verdicts.get(name) || undefined;
}

/**
 * The checker unrolls counts, and large ones take it too long. A pattern that allows any number instead tries everything on a text that the
 * pattern with the count tries: if it is linear, so is the other. If it is not, nothing is known.
 */
function analyse(source, flags) {
  const looser = source.replace(largeCounts, (part) => (part.startsWith('{') ? '*' : part));
  const found = looser === source ? undefined : recheck(looser, flags);
  return found?.status === 'safe' ? found : recheck(source, flags);
}

/** The package runs its native program where npm has installed one: it takes a tenth of the time of the same checker in JavaScript. */
function recheck(source, flags) {
  return checkSync(source, flags, { checker: 'automaton', timeout });
}

const linearPatterns = {
  meta: {
    type: 'problem',
    schema: [],
    messages: {
      superLinear: 'This pattern takes superlinear time: {{ growth }}.',
      unknown: 'The time of this pattern cannot be checked, as it is built at run time: write a literal.',
    },
  },
  create(context) {
    const check = (node, source, flags) => {
      const growth = superLinear(source, flags);
      if (growth !== undefined) context.report({ node, messageId: 'superLinear', data: { growth } });
    };
    const made = (node) => {
      if (node.callee.name !== 'RegExp') return;
      const [source, flags = { value: '' }] = node.arguments;
      if (typeof source?.value !== 'string' || typeof flags.value !== 'string') {
        context.report({ node, messageId: 'unknown' });
      } else {
        check(node, source.value, flags.value);
      }
    };
    return {
      Literal(node) {
        if (node.regex) check(node, node.regex.pattern, node.regex.flags);
      },
      NewExpression: made,
      CallExpression: made,
    };
  },
};

export default { meta: { name: 'stillage' }, rules: { 'linear-patterns': linearPatterns } };
