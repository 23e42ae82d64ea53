import { tableOfDifferences, type Difference } from '../support/runs/differences.ts';

const aDirectory =
  'examines the data directory of one machine: the table is in PostgreSQL, and the blobs are in a bucket';

/** All of them. The run fails if any other test is skipped, or if one of these runs. */
export const differences: readonly Difference[] = [
  {
    reason: aDirectory,
    file: 'test/api/bucket-encryption.test.ts',
    tests: ['objects of a bucket with default encryption > lie on the disk as ciphertext'],
  },
  {
    reason: aDirectory,
    file: 'test/api/create-public-link.test.ts',
    tests: ['CreatePublicLink > keeps no token'],
  },
  { reason: aDirectory, file: 'test/wire/damaged-blobs.test.ts' },
  { reason: aDirectory, file: 'test/wire/damaged-items.test.ts' },
  {
    reason:
      'a follower of the change feed detects a full bucket, and writes until then are accepted (test/many-machines/servers.test.ts)',
    file: 'test/api/server-quotas.test.ts',
    tests: [
      'of bytes are kept to the byte',
      'of objects are kept to the object',
      'are not overshot by writes that arrive together',
      'refuse whatever adds something while a bucket is over, and nothing else',
      'count the parts of open uploads until they are aborted',
      'count the items of parts, which may be empty',
      'count the eight newest uploads of one part, and older ones no longer',
      'refuse uploads and public links, which are no objects, and let deletes through that hide or remove one',
      'hold for forms, whose length is not known before',
    ],
  },
];

/** The files of which no test runs. */
export const differentFiles: readonly string[] = differences.filter(({ tests }) => !tests).map(({ file }) => file);

/** Returns the table of docs/many-machines.md, as Markdown. */
export function differencesTable(): string {
  return tableOfDifferences(differences);
}
