import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { awsEnvironment } from '../support/clients/aws-cli.ts';
import { bucketName } from '../support/clients/clients.ts';
import { startEndpoint, type Endpoint } from '../support/programs/endpoint.ts';
import { isInstalled, run, skip } from '../support/programs/programs.ts';

/** Where Debian keeps the sources of Go's packages. */
const sources = '/usr/share/gocode';
const installed = existsSync(join(sources, 'src/github.com/aws/aws-sdk-go')) && isInstalled('go', ['version']);

describe('the AWS SDK for Go', () => {
  let endpoint: Endpoint;
  beforeAll(async () => {
    endpoint = await startEndpoint('https');
  });
  afterAll(() => endpoint.stop());

  it('administers users and roles, assumes a role, and reads and writes within their rights', async (context) => {
    if (!installed) {
      skip(context, 'the SDK is not installed: apt-get install golang-go golang-github-aws-aws-sdk-go-dev');
    }
    const program = join(endpoint.folder, 'go-session');
    // Without C, whose compiler need not be installed.
    const building = { GO111MODULE: 'off', GOPATH: sources, CGO_ENABLED: '0', GOFLAGS: '' };
    await run('go', ['build', '-o', program, join(import.meta.dirname, 'go/main.go')], { env: building });

    const name = bucketName('go');
    const { stdout } = await run(program, [await endpoint.newBucket(), name], { env: awsEnvironment(endpoint) });
    const denied = ['AccessDenied', 403];
    expect(JSON.parse(stdout)).toEqual({
      'user reads back': true,
      'pages, users': [2, 2],
      'policy reads back': true,
      attached: true,
      'user is itself': true,
      'user reads': 'by the user',
      'user lists': 2,
      'user may not read': denied,
      'user may not write': denied,
      'user may not administer': denied,
      'session is its user': true,
      'session reads': 'by the user',
      'session may not read': denied,
      role: expect.stringMatching(new RegExp(`^arn:aws:sts::\\d{12}:assumed-role/${name}/go$`)) as string,
      'role reads': 'by the user',
      'role may not write': denied,
      'not trusted': denied,
      conflict: ['DeleteConflict', 409],
      gone: Array.from({ length: 3 }, () => ['NoSuchEntity', 404]),
    });
  });
});
