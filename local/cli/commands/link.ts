import type { Command } from 'commander';
import { checkVersionId } from '../../../shared/storage/versions/version-id.ts';
import { option, startOption } from '../../../shared/command-line/option.ts';
import { checked, number } from '../../../shared/command-line/option-values.ts';
import { defaultOptions } from '../../../shared/command-line/start-options.ts';
import { family, limitOfService, verb, type Named } from '../command.ts';
import * as operand from '../operands.ts';
import { recordReport, tableReport, time } from '../../../shared/command-line/report.ts';
import { asService } from '../../../shared/storage/version-changes/service-authorisation.ts';
import { S3Error } from '../../../shared/errors/s3-error.ts';
import type { Bucket } from '../../../shared/storage/buckets/bucket.ts';
import type { PublicLink } from '../../../shared/storage/objects/public-links.ts';
import { publicLinkUrl } from '../../../shared/protocol/public-link.ts';
import { argument, command, optional, Refusal, type AdministrationDeps } from '../../../functions/admin/command.ts';
import { result } from '../../../functions/admin/results.ts';

const named = { bucket: argument.text, key: argument.word } as const;
const page = 1000;

const shownLink = result.object({
  id: result.text,
  versionId: result.text,
  created: result.time,
  expires: result.time,
});

export const linkCommands = {
  create: command(
    'link create',
    'manage',
    { ...named, versionId: optional(argument.text), expiresSeconds: optional(argument.number) },
    result.object({ ...shownLink.shape, url: result.text }),
    async ({ buckets, objects, publicLinks, settings }, { key, versionId, expiresSeconds, ...given }) => {
      if (versionId !== undefined) checkVersionId(versionId);
      const lifetime = lifetimeOf(expiresSeconds, settings.limits.publicLinkLifetime);
      const bucket = await buckets.load(given.bucket);
      const version = await objects.find(bucket, key, versionId);
      if (version === undefined || version.marker) throw new S3Error('NoSuchKey');
      const { link, token } = await publicLinks.create(asService(bucket, key, versionId), version, lifetime);
      return { ...shown(link), url: publicLinkUrl(settings.publicUrl, token) };
    },
  ),
  list: command('link list', 'manage', named, result.list(shownLink), async (deps, { bucket, key }) => {
    const links = await liveLinks(deps, await deps.buckets.load(bucket), key);
    return links.map(shown);
  }),
  revoke: command(
    'link revoke',
    'manage',
    { ...named, id: argument.word },
    result.nothing,
    async ({ buckets, publicLinks }, { key, id, ...given }) => {
      const bucket = await buckets.load(given.bucket);
      const link = await publicLinks.find(bucket.id, key, id);
      if (link === undefined) throw new S3Error('NoSuchPublicLink');
      await publicLinks.revoke(asService(bucket, key), link, undefined);
    },
  ),
};

/** Returns the lifetime of a link in milliseconds. @throws Refusal */
function lifetimeOf(seconds: number | undefined, longest: number): number {
  if (seconds === undefined) return longest;
  if (seconds >= 1 && seconds * 1000 <= longest) return seconds * 1000;
  throw new Refusal(`a link may be valid for 1 to ${Math.floor(longest / 1000)} seconds`);
}

/** Returns a link without its location in the table. */
function shown({
  id,
  versionId,
  created,
  expires,
}: PublicLink): Pick<PublicLink, 'id' | 'versionId' | 'created' | 'expires'> {
  return { id, versionId, created, expires };
}

async function liveLinks(
  { objects, publicLinks }: AdministrationDeps,
  bucket: Bucket,
  key: string,
): Promise<readonly PublicLink[]> {
  const live: PublicLink[] = [];
  for (let after = '', more = true; more;) {
    const found = await publicLinks.list(bucket.id, key, { after, limit: page });
    for (const link of found.links) {
      const version = await objects.find(bucket, key, link.versionId);
      if (version?.instance === link.instance) live.push(link);
    }
    after = found.links.at(-1)?.id ?? after;
    ({ more } = found);
  }
  return live;
}

const object = (): readonly operand.Operand[] => [operand.bucket, ['<key>', 'key of the object', operand.word]];

interface Asked {
  readonly versionId?: string;
  readonly expires?: number;
}

/** Returns `stillage link`. */
export function commandLine(named: Named): Command {
  const seconds = number(
    (_, digits) => /^[1-9]\d{0,9}$/.test(digits),
    'Must be a whole number of seconds, at least 1.',
  );
  return family(named, [
    verb<Asked>({
      name: 'create',
      does: 'Create a link and print its URL, which is shown only now',
      operands: object(),
      options: [
        option('--version-id <id>', 'version to link to', checked(checkVersionId)).default(
          undefined,
          'the current version',
        ),
        option('--expires <seconds>', 'lifetime of the link, in seconds', seconds).default(
          undefined,
          'the limit publicLinkLifetime, a day',
        ),
      ],
      service: [
        startOption('publicUrl').default(`http://${defaultOptions.host}:${defaultOptions.port}`),
        limitOfService(),
      ],
      examples: ['link create first-bucket hello.txt', 'link create first-bucket hello.txt --expires 3600 --json'],
      act: async (ask, [bucket, key], { versionId, expires }) => {
        const given = { bucket: bucket!, key: key!, versionId, expiresSeconds: expires };
        const link = await ask(linkCommands.create, given);
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
      operands: object(),
      examples: ['link list first-bucket hello.txt'],
      act: async (ask, [bucket, key]) =>
        tableReport(
          await ask(linkCommands.list, { bucket: bucket!, key: key! }),
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
      operands: [...object(), ['<id>', 'id of the link', operand.word]],
      examples: ['link revoke first-bucket hello.txt AP6w61-P5FSALQ75-H-fIgggzpaO'],
      act: async (ask, [bucket, key, id]) => {
        await ask(linkCommands.revoke, { bucket: bucket!, key: key!, id: id! });
        return `revoked ${id}`;
      },
    }),
  ]);
}
