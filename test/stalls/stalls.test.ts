import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, describe, expect, it } from 'vitest';
import { StepCounter } from '../support/runs/steps.ts';
import { documents, inputsOf, readers } from '../support/runs/stalls.ts';

/** Whether something that clients send can take longer than its length is worth. Counted in steps, so that no machine is too slow. */

const root = join(import.meta.dirname, '../..');
const counter = new StepCounter();
afterAll(() => counter.close());

const factor = 8;

describe('the work of reading', () => {
  it.each(Object.entries({ ...readers, ...documents }))('%s grows no faster than its length', async (_, reader) => {
    const large = reader.most ?? 8192;
    const attempt = async (text: string): Promise<void> => {
      try {
        await reader.read(text);
      } catch {
        // An input must be refused in linear time, too.
      }
    };
    await attempt('a');
    const small = new Map(inputsOf(reader, large / factor));
    for (const [name, text] of inputsOf(reader, large)) {
      const before = await counter.count(() => attempt(small.get(name)!));
      const after = await counter.count(() => attempt(text));
      // Quadratic work would take up to 64 times as many steps.
      expect(after, `${name}: ${before} → ${after}`).toBeLessThan(before * factor * 1.5 + 5000);
    }
  });

  it('is counted: square work is seen', async () => {
    const { matchesPattern } = await import('../../shared/protocol/cors.ts');
    const square = (size: number) => () => {
      for (let at = 0; at < size; at += 1) for (let by = 0; by < size; by += 1) matchesPattern('a', 'b');
    };
    expect(await counter.count(square(80))).toBeGreaterThan(40 * (await counter.count(square(10))));
  });
});

/** The folders in which parsers of requests are looked for by their names. */
const folders = ['shared/http', 'shared/access', 'shared/protocol', 'shared/xml'];
/** Exported under such a name, but no reader of texts of any length; or it is one within another. */
const others = new Set([
  ...[
    'parseDelimiter',
    'parsePageSize',
    'parseEncodingType',
    'parseVersionId',
    'parseVersionIdToDelete',
    'readBody',
    'parsePartNumber',
    'parseDirective',
  ],
  ...['parseProjectName', 'parseUserName', 'parsePrivilege', 'readAclRequest', 'readAnnouncedBody', 'parseCopyRequest'],
  ...[
    'readAddress',
    'readRange',
    'readQuestion',
    'readConditions',
    'readConditionKey',
    'readVariable',
    'readOperator',
    'readPrincipals',
    'readResource',
    'readArn',
  ],
  ...['readStrings', 'readTemplate', 'readWantedEncryption', 'readCustomerKey', 'parseExpectedChecksum'],
  ...['parseUploadChecksum', 'parseAskedChecksum', 'readWhole', 'readExpirations', 'readAbortion'],
  'readTagging',
  'readOverride',
  ...['readTrusted', 'readTrustKey'],
]);

it('every reader is in the table', () => {
  const exported = folders.flatMap((folder) =>
    readdirSync(join(root, folder), { recursive: true, encoding: 'utf8' })
      .filter((file) => file.endsWith('.ts'))
      .flatMap((file) => {
        const source = readFileSync(join(root, folder, file), 'utf8');
        return [...source.matchAll(/^export (?:async )?function ((?:parse|read|match)\w+)/gm)].map(([, name]) => name!);
      }),
  );
  const covered = new Set(Object.values(readers).flatMap(({ covers }) => covers));
  expect(exported.length).toBeGreaterThan(40);
  expect(exported.filter((name) => !covered.has(name) && !others.has(name))).toEqual([]);
});
