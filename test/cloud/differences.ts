/** Tests of the API that do not run against a deployment in the cloud. */
export interface Difference {
  /** Why it is so, for whoever relies on the deployment. */
  readonly reason: string;
  /** From the root. */
  readonly file: string;
  /**
   * The names of tests, or of what encloses them, joined by ` > `; of what is run several times under several names, those within.
   * All tests of the file, if not said.
   */
  readonly tests?: readonly string[];
}

const aProgram = 'is about the program that runs on one machine: its command line, its data directory, its log';
const aDisk = 'looks at what lies on the disk of one machine';

/** All of them. What is skipped and not here fails the run, and so does what is here and not skipped. */
export const differences: readonly Difference[] = [
  ...['console', 'first-start', 'operator', 'scrub'].map((name) => ({
    reason: aProgram,
    file: `test/api/server-${name}.test.ts`,
  })),
  {
    reason: 'CloudFront reads for clients, and other files use the deployment meanwhile',
    file: 'test/api/server-log.test.ts',
    tests: [
      'has a line of what is no HTTP, too',
      'counts the bytes of a download that its client gave up',
      'has a line for every request and nothing else, and no secret in any',
    ],
  },
  {
    reason: 'it is CloudFront that waits for bodies, and API Gateway or the load balancer behind it',
    file: 'test/api/server-slow-bodies.test.ts',
  },
  {
    reason: 'calls a webhook on this machine, which no setting of a deployment allows, or looks at the log',
    file: 'test/api/server-alarms.test.ts',
    tests: [
      'an alarm with a webhook > tells of a bucket that is filled and emptied, once each time, signed, in the documented form',
      'an alarm with a webhook > that takes its time does not keep the service from collecting or from stopping',
      'an alarm > writes into the log, and nothing while its actions or monitoring are off',
    ],
  },
  {
    reason: 'in the cloud, alarms can publish to topics',
    file: 'test/api/alarm.test.ts',
    tests: ['PutAlarm and GetAlarm > refuse to publish to a topic, which are in the cloud alone'],
  },
  {
    reason: aDisk,
    file: 'test/api/server-health.test.ts',
    tests: [
      'the health of the service > is not good while the blobs are gone, which the log explains and the answer does not',
    ],
  },
  {
    reason: 'in the cloud, schedules collect and evaluate: the commands `run` are about one machine',
    file: 'test/api/server-monitoring.test.ts',
    tests: ['monitoring by commands > collects, draws, watches and tells'],
  },
  {
    reason:
      'a follower of the change feed finds that a bucket is full: what is written until then is let through (test/cloud/background.test.ts)',
    file: 'test/api/server-quotas.test.ts',
    tests: [
      'of bytes are kept to the byte',
      'of objects are kept to the object',
      'are not overshot by writes that arrive together',
      'refuse whatever adds something while a bucket is over, and nothing else',
      'count the parts of open uploads until they are aborted',
      'hold for forms, whose length is not known before',
    ],
  },
  {
    reason: 'API Gateway and CloudFront say Date, Server and Connection themselves',
    file: 'test/wire/response-headers.test.ts',
    tests: ['every response > has the date, and says what serves'],
  },
  {
    reason: aProgram,
    file: 'test/clients/docker-registry.test.ts',
    tests: ['has asked for what only it asks for'],
  },
  {
    reason: 'S3 encrypts what lies in it (SSE-S3) itself, and gives it as it was to whoever may read it there',
    file: 'test/api/encryption.test.ts',
    tests: ['encryption with a key of the service (SSE-S3) > keeps ciphertext'],
  },
  {
    reason: 'S3 encrypts what lies in it (SSE-S3) itself, and gives it as it was to whoever may read it there',
    file: 'test/api/bucket-encryption.test.ts',
    tests: ['objects of a bucket with default encryption > lie on the disk as ciphertext'],
  },
  {
    reason: 'CloudFront answers methods that it does not know by itself, and has no CONNECT',
    file: 'test/wire/routing.test.ts',
    tests: ['a method that nothing has'],
  },
  {
    reason: 'it is CloudFront that clients speak HTTP with: what can be read in two ways, it refuses in its own words',
    file: 'test/wire/request-smuggling.test.ts',
    tests: [
      'the length of a body',
      'a header',
      'a target',
      'requests on one connection > are answered one after another, also if they are sent together',
    ],
  },
  {
    reason: 'it is CloudFront that clients speak HTTP with: what can be read in two ways, it refuses in its own words',
    file: 'test/wire/error-bodies.test.ts',
    tests: ['an error > of a request that is no HTTP has the form of any other'],
  },
  {
    reason: 'it is CloudFront that answers Expect, in a way that nobody has tried',
    file: 'test/wire/expect-continue.test.ts',
    tests: ['Expect: 100-continue', 'other expectations'],
  },
  {
    reason: 'it is CloudFront that clients speak HTTP with: what can be read in two ways, it refuses in its own words',
    file: 'test/wire/expect-continue.test.ts',
    tests: ['bytes that follow a whole request and are none'],
  },
  {
    reason: 'it is CloudFront that answers Expect, in a way that nobody has tried',
    file: 'test/clients/curl.test.ts',
    tests: ['waits for 100 Continue before it sends a big body'],
  },
  {
    reason: 'CloudFront refuses a GET that has a body',
    file: 'test/wire/limits.test.ts',
    tests: ['a document > that means nothing has at most 1 MiB, and must be what was signed'],
  },
  {
    reason:
      'CloudFront takes 8,192 bytes of URL and API Gateway 10,240 of header fields, and both refuse more in their own words',
    file: 'test/wire/limits.test.ts',
    tests: [
      'the header section > has at most 8 KB',
      'the header section > is refused in the same words where it is far too long',
      'a target > has at most 16 KB',
    ],
  },
  {
    reason:
      'CloudFront takes 8,192 bytes of URL and API Gateway 10,240 of header fields, and both refuse more in their own words',
    file: 'test/wire/settable-limits.test.ts',
    tests: ['headerSectionBytes', 'requestTargetBytes'],
  },
  {
    reason: aProgram,
    file: 'test/wire/settable-limits.test.ts',
    tests: ['keyBytes leaves longer keys that are there to be read and deleted'],
  },
  {
    reason: 'it is CloudFront that waits for the rest of a head, and it says by itself when it has waited enough',
    file: 'test/wire/limits.test.ts',
    tests: ['lowered limits > end a request that takes too long altogether'],
  },
  {
    reason: 'it is CloudFront that clients speak HTTP with: what can be read in two ways, it refuses in its own words',
    file: 'test/wire/bounds.test.ts',
    tests: ['what is compressed > is no transfer coding'],
  },
  {
    reason: 'looks at the memory and the connections of a process on one machine',
    file: 'test/wire/bounds.test.ts',
    tests: ['hundreds of clients that begin something and do not go on'],
  },
  {
    reason:
      'writers of a key take turns within a process: in the cloud, some of very many at once are told to come back',
    file: 'test/wire/races.test.ts',
    tests: ['uploads of one key > all come to pass, however many there are at once'],
  },
  {
    reason: 'CloudFront reads answers for slow clients, and gives them up when it will',
    file: 'test/wire/slow-readers.test.ts',
    tests: ['a client that takes nothing of its answer any more'],
  },
  {
    reason: aDisk,
    file: 'test/wire/encryption-at-rest.test.ts',
    tests: ['ciphertext that somebody has changed'],
  },
  { reason: aDisk, file: 'test/wire/damaged-blobs.test.ts' },
  {
    reason: 'requests a second are limited by API Gateway, for all clients together',
    file: 'test/wire/request-rate.test.ts',
  },
];

/** Those of which nothing runs. */
export const differentFiles: readonly string[] = differences.filter(({ tests }) => !tests).map(({ file }) => file);

/** What says of a test that it does not run. @param name with the names of what encloses it, joined by ` > ` */
export function differenceOf(file: string, name: string): Difference | undefined {
  const isOf = ({ tests = [name] }: Difference): boolean =>
    tests.some((part) => name === part || name.startsWith(`${part} > `) || name.endsWith(` > ${part}`));
  return differences.find((difference) => difference.file === file && isOf(difference));
}

/** The section of docs/cloud.md, as Markdown. */
export function differencesTable(): string {
  const reasons = [...new Set(differences.map(({ reason }) => reason))];
  const what = ({ file, tests }: Difference): string => {
    const path = `\`${file}\``;
    return tests ? `${path}: ${tests.map((name) => `“${name.split(' > ').at(-1)}”`).join(', ')}` : path;
  };
  const rows = reasons.map(
    (reason) =>
      `| ${differences
        .filter((one) => one.reason === reason)
        .map(what)
        .join('<br>')} | ${reason} |`,
  );
  return ['| does not run | because |', '|---|---|', ...rows].join('\n');
}
