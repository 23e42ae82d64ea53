import type { Act } from '../../shared/audit/audit-record.ts';

/** Arguments that may hold secrets: of keys, and in the URLs of webhooks. */
const secret: ReadonlySet<string> = new Set(['secret', 'fields']);

/** Returns what is taken down of a command that changes something. */
export function actOfCommand(name: string, given: unknown): Pick<Act, 'source' | 'event' | 'bucket' | 'given'> {
  const shown = Object.entries(given ?? {}).filter(([argument]) => !secret.has(argument));
  const { bucket, ...others } = Object.fromEntries(shown) as { readonly bucket?: unknown };
  return {
    source: 'administration',
    event: name,
    bucket: typeof bucket === 'string' ? bucket : undefined,
    given: others,
  };
}
