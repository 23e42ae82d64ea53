import { InvalidArgumentError, Option, type Command } from 'commander';
import { S3Error } from '../../../../shared/errors/s3-error.ts';
import type { Bucket } from '../../../../shared/metadata/bucket.ts';
import { Buckets } from '../../../../shared/metadata/buckets.ts';
import { checkVersionId, Objects } from '../../../../shared/metadata/objects.ts';
import { PublicLinks, type PublicLink } from '../../../../shared/metadata/public-links.ts';
import { defaultLimits, type Limits } from '../../../../shared/protocol/limits.ts';
import { publicLinkUrl } from '../../../../shared/protocol/public-link.ts';
import { limitOption } from '../limit-option.ts';
import { OperatorError } from '../../operator-error.ts';
import { publicUrlOption } from '../public-url-option.ts';
import { defaultOptions } from '../settings.ts';
import { family, verb, type Rooms } from './command.ts';
import { recordReport, tableReport, time, type Report } from './report.ts';

const object = [
  ['<bucket>', 'name of the bucket'],
  ['<key>', 'key of the object'],
] as const;

const page = 1000;

interface Asked {
  readonly versionId?: string;
  readonly expires?: number;
  readonly publicUrl: string;
  readonly limit: Partial<Limits>;
}

/** `stillage link` */
export function linkFamily(): Command {
  return family('link', 'public links: they let anybody read a version of an object for some time', [
    verb<Asked>({
      name: 'create',
      does: 'make a link; its URL is shown this once',
      operands: object,
      options: [
        new Option('--version-id <id>', 'the version that it leads to (default: the current one)'),
        new Option('--expires <seconds>', 'how long it lasts (default: as long as it may, a day)').argParser(
          parseSeconds,
        ),
        publicUrlOption().default(`http://${defaultOptions.host}:${defaultOptions.port}`),
        limitOption('the limits that the service was started with'),
      ],
      examples: ['link create first-bucket hello.txt', 'link create first-bucket hello.txt --expires 3600 --json'],
      act: (rooms, [bucket, key], asked) => create(rooms, bucket!, key!, asked),
    }),
    verb({
      name: 'list',
      does: 'list the links of an object that lead somewhere',
      operands: object,
      examples: ['link list first-bucket hello.txt'],
      act: async (rooms, [bucket, key]) => {
        const links = await liveLinks(rooms, await new Buckets(rooms).load(bucket!), key!);
        return tableReport(
          links.map(({ id, versionId, created, expires }) => ({ id, versionId, created, expires })),
          [
            ['ID', ({ id }) => id],
            ['VERSION', ({ versionId }) => versionId],
            ['CREATED', ({ created }) => time(created)],
            ['EXPIRES', ({ expires }) => time(expires)],
          ],
          'no links',
        );
      },
    }),
    verb({
      name: 'revoke',
      does: 'end a link at once',
      operands: [...object, ['<id>', 'id of the link']],
      examples: ['link revoke first-bucket hello.txt AP6w61-P5FSALQ75-H-fIgggzpaO'],
      act: async (rooms, [name, key, id]) => {
        const bucket = await new Buckets(rooms).load(name!);
        const links = new PublicLinks(rooms);
        const link = await links.find(bucket.id, key!, id!);
        if (link === undefined) throw new S3Error('NoSuchPublicLink');
        await links.revoke(link);
        return `revoked ${link.id}`;
      },
    }),
  ]);
}

async function create(
  rooms: Rooms,
  name: string,
  key: string,
  { versionId, expires, publicUrl, limit }: Asked,
): Promise<Report> {
  const lifetime = lifetimeOf(expires, { ...defaultLimits, ...limit });
  if (versionId !== undefined) checkVersionId(versionId);
  const buckets = new Buckets(rooms);
  const bucket = await buckets.load(name);
  const version = await new Objects({ ...rooms, buckets }).find(bucket, key, versionId);
  if (version === undefined || version.marker) throw new S3Error('NoSuchKey');
  const { link, token } = await new PublicLinks(rooms).create(bucket, key, version, lifetime);
  const url = publicLinkUrl(publicUrl, token);
  return recordReport({ id: link.id, url, versionId: link.versionId, created: link.created, expires: link.expires }, [
    ['id', link.id],
    ['url', url],
    ['expires', time(link.expires)],
  ]);
}

async function liveLinks(rooms: Rooms, bucket: Bucket, key: string): Promise<readonly PublicLink[]> {
  const objects = new Objects({ ...rooms, buckets: new Buckets(rooms) });
  const links = new PublicLinks(rooms);
  const live: PublicLink[] = [];
  for (let after = '', more = true; more;) {
    const found = await links.list(bucket.id, key, { after, limit: page });
    for (const link of found.links) {
      const version = await objects.find(bucket, key, link.versionId);
      if (version?.instance === link.instance) live.push(link);
    }
    after = found.links.at(-1)?.id ?? after;
    ({ more } = found);
  }
  return live;
}

/** @throws InvalidArgumentError */
function parseSeconds(value: string): number {
  if (/^[1-9]\d*$/.test(value)) return Number(value);
  throw new InvalidArgumentError('A link lasts a whole number of seconds.');
}

/** In milliseconds. @throws OperatorError */
function lifetimeOf(seconds: number | undefined, { publicLinkLifetime: longest }: Limits): number {
  if (seconds === undefined) return longest;
  if (seconds * 1000 <= longest) return seconds * 1000;
  throw new OperatorError(`--expires: a link lasts ${Math.floor(longest / 1000)} seconds at most`);
}
