import { findDifference, tableOfDifferences, type Difference } from '../support/runs/differences.ts';

const aProgram = 'tests the program that runs on one machine: its command line, its data directory, its log';
const aDisk = 'examines the disk of one machine';

/** All of them. The run fails if any other test is skipped, or if one of these runs. */
export const differences: readonly Difference[] = [
  ...['console', 'exhausted', 'first-start', 'full-disk', 'operator', 'release', 'scrub'].map((name) => ({
    reason: aProgram,
    file: `test/api/server-${name}.test.ts`,
  })),
  {
    reason: 'CloudFront reads responses for clients, and other test files use the deployment at the same time',
    file: 'test/api/server-log.test.ts',
    tests: [
      'has a line of what is no HTTP, too',
      'counts the bytes of a download that its client gave up',
      'has a line for every request and nothing else, and no secret in any',
    ],
  },
  {
    reason: 'CloudFront waits for bodies, and API Gateway or the load balancer after it',
    file: 'test/api/server-slow-bodies.test.ts',
  },
  {
    reason: 'calls a webhook on this machine, which no setting of a deployment allows, or examines the log',
    file: 'test/api/server-alarms.test.ts',
    tests: [
      'an alarm with a webhook > tells of a bucket that is filled and emptied, once each time, signed, in the documented form',
      'an alarm with a webhook > that takes its time does not keep the service from collecting or from stopping',
      'an alarm > writes into the log, and nothing while its actions or monitoring are off',
    ],
  },
  {
    reason:
      'asks an identity provider on this machine, which no setting of a deployment allows (test/cloud/web-identity.test.ts)',
    file: 'test/api/web-identity.test.ts',
  },
  { reason: 'a cloud deployment delivers no events', file: 'test/api/bucket-notification.test.ts' },
  { reason: 'a cloud deployment delivers no events', file: 'test/api/webhook.test.ts' },
  { reason: 'a cloud deployment delivers no events and no access logs', file: 'test/console/events.test.ts' },
  { reason: 'a cloud deployment delivers no access logs', file: 'test/api/server-access-logs.test.ts' },
  ...(
    [
      ['api/iam', 'Iam > access keys > tell when they were last used, and what for'],
      ['api/assume-role', 'AssumeRole > is a use of the role'],
      [
        'console/people',
        'the last use of a key > is shown with its service and region, in the language of the console',
      ],
    ] as const
  ).map(([file, test]) => ({
    reason: 'in the cloud, the last uses of keys and roles come from the log, every half hour',
    file: `test/${file}.test.ts`,
    tests: [test],
  })),
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
      'the health of the service > says while the disk is full or read-only that nothing can be written, and GET goes on',
    ],
  },
  { reason: aDisk, file: 'test/wire/damaged-items.test.ts' },
  { reason: aDisk, file: 'test/wire/policy-principals.test.ts', tests: ['a policy of an earlier release'] },
  {
    reason: 'a deployment has no setting that shortens days: here, the clock of its lifecycle passes is ahead',
    file: 'test/api/lifecycle-days.test.ts',
    tests: ['with a day of a few seconds > a header tells of the days that are in force'],
  },
  {
    reason: 'in the cloud, schedules collect and evaluate; the commands `run` exist only on one machine',
    file: 'test/api/server-monitoring.test.ts',
    tests: ['monitoring by commands > collects, draws, watches and tells'],
  },
  {
    reason:
      'a follower of the change feed detects a full bucket, and writes until then are accepted (test/cloud/background.test.ts)',
    file: 'test/api/server-quotas.test.ts',
    tests: [
      'of bytes are kept to the byte',
      'of objects are kept to the object',
      'are not overshot by writes that arrive together',
      'refuse whatever adds something while a bucket is over, and nothing else',
      'count the parts of open uploads until they are aborted',
      'count the eight newest uploads of one part, and older ones no longer',
      'hold for forms, whose length is not known before',
    ],
  },
  {
    reason: 'API Gateway and CloudFront set Date, Server and Connection themselves',
    file: 'test/wire/response-headers.test.ts',
    tests: ['every response > has the date, and says what serves'],
  },
  {
    reason: aProgram,
    file: 'test/clients/docker-registry.test.ts',
    tests: ['has asked for what only it asks for'],
  },
  {
    reason: 'S3 encrypts the blobs itself (SSE-S3), and returns plaintext to anyone who may read them there',
    file: 'test/api/encryption.test.ts',
    tests: ['encryption with a key of the service (SSE-S3) > keeps ciphertext'],
  },
  {
    reason: 'S3 encrypts the blobs itself (SSE-S3), and returns plaintext to anyone who may read them there',
    file: 'test/api/bucket-encryption.test.ts',
    tests: ['objects of a bucket with default encryption > lie on the disk as ciphertext'],
  },
  {
    reason: 'CloudFront responds to unknown methods itself, and does not support CONNECT',
    file: 'test/wire/routing.test.ts',
    tests: ['a method that nothing has'],
  },
  {
    reason: 'clients speak HTTP with CloudFront, which refuses ambiguous requests in its own words',
    file: 'test/wire/request-smuggling.test.ts',
    tests: [
      'the length of a body',
      'a header',
      'a target',
      'requests on one connection > are answered one after another, also if they are sent together',
    ],
  },
  ...['absolute-targets', 'http-1.0'].map((name) => ({
    reason: 'clients speak HTTP with CloudFront, which refuses ambiguous requests in its own words',
    file: `test/wire/${name}.test.ts`,
  })),
  {
    reason: 'clients speak HTTP with CloudFront, which refuses ambiguous requests in its own words',
    file: 'test/wire/error-bodies.test.ts',
    tests: ['an error > of a request that is no HTTP has the form of any other'],
  },
  {
    reason: 'CloudFront responds to Expect, in a way that nobody has tried',
    file: 'test/wire/expect-continue.test.ts',
    tests: ['Expect: 100-continue', 'other expectations'],
  },
  {
    reason: 'clients speak HTTP with CloudFront, which refuses ambiguous requests in its own words',
    file: 'test/wire/expect-continue.test.ts',
    tests: ['bytes that follow a whole request and are none'],
  },
  {
    reason: 'CloudFront responds to Expect, in a way that nobody has tried',
    file: 'test/clients/curl.test.ts',
    tests: ['waits for 100 Continue before it sends a big body'],
  },
  {
    reason: 'CloudFront refuses a GET with a body',
    file: 'test/wire/limits.test.ts',
    tests: ['a document > that means nothing has at most 1 MiB, and must be what was signed'],
  },
  {
    reason:
      'CloudFront accepts 8,192 bytes of URL and API Gateway 10,240 of headers, and both refuse more in their own words',
    file: 'test/wire/limits.test.ts',
    tests: [
      'the header section > has at most 8 KB',
      'the header section > is refused in the same words where it is far too long',
      'a target > has at most 16 KB',
    ],
  },
  {
    reason:
      'CloudFront accepts 8,192 bytes of URL and API Gateway 10,240 of headers, and both refuse more in their own words',
    file: 'test/wire/settable-limits.test.ts',
    tests: ['headerSectionBytes', 'requestTargetBytes'],
  },
  {
    reason: aProgram,
    file: 'test/wire/settable-limits.test.ts',
    tests: ['keyBytes leaves longer keys that are there to be read and deleted'],
  },
  {
    reason: 'CloudFront waits for the rest of a request head, up to its own time limit',
    file: 'test/wire/limits.test.ts',
    tests: ['lowered limits > end a request that takes too long altogether'],
  },
  {
    reason: 'clients speak HTTP with CloudFront, which refuses ambiguous requests in its own words',
    file: 'test/wire/bounds.test.ts',
    tests: ['what is compressed > is no transfer coding'],
  },
  {
    reason: 'examines the memory and the connections of a process on one machine',
    file: 'test/wire/bounds.test.ts',
    tests: ['hundreds of clients that start something and stall'],
  },
  {
    reason:
      'writers of a key take turns within a process; in the cloud, some of many concurrent writers get 503 and must retry',
    file: 'test/wire/races.test.ts',
    tests: ['uploads of one key > all come to pass, however many there are at once'],
  },
  {
    reason: 'CloudFront reads responses for slow clients, and drops them by its own rules',
    file: 'test/wire/slow-readers.test.ts',
    tests: ['a client that stops reading its response'],
  },
  {
    reason: aDisk,
    file: 'test/wire/encryption-at-rest.test.ts',
    tests: ['ciphertext that somebody has changed'],
  },
  { reason: aDisk, file: 'test/wire/damaged-blobs.test.ts' },
  {
    reason: 'writes and renames 10,000 objects, which takes too long with the engines in the place of DynamoDB and S3',
    file: 'test/console/large-folder.test.ts',
  },
  {
    reason:
      'looks at what the browser draws of a sample, whatever answers: the pages are tested with the cloud by the other files',
    file: 'test/console/every-view.test.ts',
  },
  { reason: 'operators have a page on one machine alone', file: 'test/console/operators.test.ts' },
  {
    reason: 'API Gateway limits requests a second, for all clients together',
    file: 'test/wire/request-rate.test.ts',
  },
];

/** The files of which no test runs. */
export const differentFiles: readonly string[] = differences.filter(({ tests }) => !tests).map(({ file }) => file);

/** Returns the entry for a test that does not run. @param name with the names of the enclosing suites, joined by ` > ` */
export function differenceOf(file: string, name: string): Difference | undefined {
  return findDifference(differences, file, name);
}

/** Returns the table of docs/cloud.md, as Markdown. */
export function differencesTable(): string {
  return tableOfDifferences(differences);
}
