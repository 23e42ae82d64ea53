import type { Rule } from 'eslint';

/** Refuses writes whose outcome nobody looks at. */
export const handledOutcomes: Rule.RuleModule;
