import { createHash } from 'node:crypto';
import { invalidArgument } from '../errors/s3-error.ts';

/** The steps of giving a rule an id: microseconds, as an event-loop budget counts them. */
const stepsPerId = 8;

/** Assigns ids to rules without one. Deterministic, so that a configuration sent twice stays the same. */
export function* withIds<Rule extends { readonly id?: string }>(
  rules: readonly Rule[],
): Generator<number, readonly (Rule & { readonly id: string })[], void> {
  const taken = new Set<string>();
  for (const { id } of rules) {
    if (!id) continue;
    if (taken.has(id)) {
      throw invalidArgument('ID', id, 'Rule ID must be unique. Found same ID for more than one rule');
    }
    taken.add(id);
  }
  /** The number of ids tried for rules with the same content. */
  const attempts = new Map<string, number>();
  const newId = (rule: Rule): string => {
    const said = JSON.stringify(rule);
    for (let attempt = attempts.get(said) ?? 0; ; attempt += 1) {
      attempts.set(said, attempt + 1);
      const id = createHash('sha256')
        .update(JSON.stringify([rule, attempt]))
        .digest('base64url');
      if (taken.has(id)) continue;
      taken.add(id);
      return id;
    }
  };
  const named: (Rule & { readonly id: string })[] = [];
  for (const rule of rules) {
    named.push({ ...rule, id: rule.id ? rule.id : newId(rule) });
    yield stepsPerId;
  }
  return named;
}
