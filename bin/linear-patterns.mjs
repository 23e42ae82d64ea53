// An ESLint rule against regular expressions with superlinear time. recheck finds some that eslint-plugin-regexp misses, and the reverse.
// Verdicts are cached, as some take seconds.
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { dirname } from 'node:path';

// Imports the checker that runs in this thread: the package's entry would start a native program if there is one.
const require = createRequire(import.meta.url);
const { checkSync } = require('recheck/lib/browser.js');

const cacheFile = new URL('../node_modules/.cache/linear-patterns.json', import.meta.url).pathname;
/** Milliseconds per pattern. An undecided one is left to eslint-plugin-regexp, and checked again the next time: the machine may be busy. */
const timeout = 10_000;
/** Quantifiers without an upper bound. Without one of these, the time is bounded for any text. */
const unbounded = /[*+]|\{\d+,\}/;

const verdicts = new Map(Object.entries(readCache()));

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
  if (!verdicts.has(name)) {
    const { status, complexity } = checkSync(source, flags, { checker: 'automaton', timeout });
    if (status === 'unknown') return undefined;
    verdicts.set(name, status === 'vulnerable' ? complexity.summary : '');
    mkdirSync(dirname(cacheFile), { recursive: true });
    writeFileSync(cacheFile, JSON.stringify(Object.fromEntries(verdicts)));
  }
  return verdicts.get(name) || undefined;
}

export const linearPatterns = {
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
