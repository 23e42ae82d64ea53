// A rule for ESLint: no regular expression whose time grows faster than the length of the text. What eslint-plugin-regexp does not see
// recheck may, and the other way round. Verdicts are kept, since some take seconds, unless time ran out.
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { dirname } from 'node:path';

// In this thread and without a program of its own: the package's entry starts one where there is one for the machine.
const require = createRequire(import.meta.url);
const { checkSync } = require('recheck/lib/browser.js');

const cacheFile = new URL('../node_modules/.cache/linear-patterns.json', import.meta.url).pathname;
/** Milliseconds. What cannot be decided within is left to eslint-plugin-regexp. */
const timeout = 10_000;
/** Without one of these the time has a bound whatever the text is. */
const unbounded = /[*+]|\{\d+,\}/;

const verdicts = new Map(Object.entries(readCache()));

function readCache() {
  try {
    return JSON.parse(readFileSync(cacheFile, 'utf8'));
  } catch {
    return {};
  }
}

/** The degree to which time grows, if it is known to grow faster than the text. */
function superLinear(source, flags) {
  if (!unbounded.test(source)) return undefined;
  const name = `/${source}/${flags}`;
  if (!verdicts.has(name)) {
    const { status, complexity, error } = checkSync(source, flags, { checker: 'automaton', timeout });
    if (error?.kind === 'timeout') return undefined;
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
      superLinear: 'The time this pattern takes grows faster than the text: {{ growth }}.',
      unknown:
        'What this pattern is made of is not known before it runs, so nobody can tell how long it takes: write a literal.',
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
