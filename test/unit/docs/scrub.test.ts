import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { findingKinds } from '../../../shared/scrub/findings.ts';

it('docs/scrub.md says of every finding what it is, and what becomes of it', () => {
  const page = readFileSync(join(import.meta.dirname, '../../../docs/scrub.md'), 'utf8');
  const rows = [...page.matchAll(/^\| `([a-z-]+)` \| (.*) \| (.*) \|$/gm)].map(([, ...cells]) => cells);
  expect(rows).toEqual(
    Object.entries(findingKinds).map(([kind, { means, ...rest }]) => [
      kind,
      means,
      'mending' in rest ? rest.mending : '**lost**: nothing is changed',
    ]),
  );
});
