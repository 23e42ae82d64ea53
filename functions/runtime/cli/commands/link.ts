import { InvalidArgumentError, Option, type Command } from 'commander';
import { limitOfServiceOption } from '../../command-line/limit-option.ts';
import { publicUrlOption } from '../../command-line/public-url-option.ts';
import { defaultOptions } from '../../local/settings.ts';
import { family, verb } from '../command.ts';
import { recordReport, tableReport, time } from '../../command-line/report.ts';

const object = [
  ['<bucket>', 'name of the bucket'],
  ['<key>', 'key of the object'],
] as const;

interface Asked {
  readonly versionId?: string;
  readonly expires?: number;
}

/** Returns `stillage link`. */
export function linkFamily(): Command {
  return family('link', 'Manage public links, which let anybody read an object until they expire', [
    verb<Asked>({
      name: 'create',
      does: 'Create a link and print its URL, which is shown only now',
      operands: object,
      options: [
        new Option('--version-id <id>', 'version to link to').default(undefined, 'the current version'),
        new Option('--expires <seconds>', 'lifetime of the link, in seconds')
          .default(undefined, 'the limit publicLinkLifetime, a day')
          .argParser(parseSeconds),
      ],
      service: [
        publicUrlOption().default(`http://${defaultOptions.host}:${defaultOptions.port}`),
        limitOfServiceOption(),
      ],
      examples: ['link create first-bucket hello.txt', 'link create first-bucket hello.txt --expires 3600 --json'],
      act: async (ask, [bucket, key], { versionId, expires }) => {
        const given = { bucket: bucket!, key: key!, versionId, expiresSeconds: expires };
        const link = await ask('link create', given);
        return recordReport(link, [
          ['id', link.id],
          ['url', link.url],
          ['expires', time(link.expires)],
        ]);
      },
    }),
    verb({
      name: 'list',
      does: 'List the valid links of an object',
      operands: object,
      examples: ['link list first-bucket hello.txt'],
      act: async (ask, [bucket, key]) =>
        tableReport(
          await ask('link list', { bucket: bucket!, key: key! }),
          [
            ['ID', ({ id }) => id],
            ['VERSION', ({ versionId }) => versionId],
            ['CREATED', ({ created }) => time(created)],
            ['EXPIRES', ({ expires }) => time(expires)],
          ],
          'no links',
        ),
    }),
    verb({
      name: 'revoke',
      does: 'Revoke a link at once',
      operands: [...object, ['<id>', 'id of the link']],
      examples: ['link revoke first-bucket hello.txt AP6w61-P5FSALQ75-H-fIgggzpaO'],
      act: async (ask, [bucket, key, id]) => {
        await ask('link revoke', { bucket: bucket!, key: key!, id: id! });
        return `revoked ${id}`;
      },
    }),
  ]);
}

/** @throws InvalidArgumentError */
function parseSeconds(value: string): number {
  if (/^[1-9]\d{0,9}$/.test(value)) return Number(value);
  throw new InvalidArgumentError('Must be a whole number of seconds, at least 1.');
}
