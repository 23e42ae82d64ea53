import { createServer, type Server, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { readManagedSecret, readNewestValues } from '../../../../shared/adapters/cloud/secrets-manager.ts';

type Stage = 'AWSCURRENT' | 'AWSPREVIOUS';

let server: Server;
let values: Partial<Record<Stage, string>>;
let asked: Stage[];
/** Called before a call is answered; `ignored`: it is never answered. */
let before: (stage: Stage) => Promise<'ignored' | void>;
let answered: () => void;

beforeEach(async () => {
  values = { AWSCURRENT: 'first' };
  asked = [];
  before = async () => undefined;
  answered = () => undefined;
  server = createServer((request, response) => {
    let body = '';
    request.setEncoding('utf8').on('data', (text: string) => (body += text));
    request.on('end', () => void answer((JSON.parse(body) as { VersionStage: Stage }).VersionStage, response));
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  vi.stubEnv('AWS_ENDPOINT_URL_SECRETS_MANAGER', `http://127.0.0.1:${(server.address() as AddressInfo).port}`);
  vi.stubEnv('AWS_REGION', 'us-east-1');
  vi.stubEnv('AWS_ACCESS_KEY_ID', 'a');
  vi.stubEnv('AWS_SECRET_ACCESS_KEY', 'b');
});
afterEach(async () => {
  vi.unstubAllEnvs();
  server.closeAllConnections();
  await new Promise((resolve) => server.close(resolve));
});

async function answer(stage: Stage, response: ServerResponse): Promise<void> {
  asked.push(stage);
  if ((await before(stage)) === 'ignored') return;
  const SecretString = values[stage];
  response.writeHead(SecretString === undefined ? 400 : 200, { 'content-type': 'application/x-amz-json-1.1' });
  response.end(JSON.stringify(SecretString === undefined ? { __type: 'ResourceNotFoundException' } : { SecretString }));
  answered();
}

function renew(value: string): void {
  values = { AWSCURRENT: value, AWSPREVIOUS: values.AWSCURRENT! };
}

describe('a secret of Secrets Manager', () => {
  it('has a current value, and the one before, once it was renewed', async () => {
    expect(await readNewestValues('secret')).toEqual(['first']);
    renew('second');
    expect(await readManagedSecret('secret')).toBe('second');
    expect(await readNewestValues('secret')).toEqual(['second', 'first']);
  });

  it('cannot be read where there is none, or where nobody may', async () => {
    values = {};
    await expect(readManagedSecret('secret')).rejects.toMatchObject({ name: 'ResourceNotFoundException' });
    await expect(readNewestValues('secret')).rejects.toMatchObject({ name: 'ResourceNotFoundException' });
  });

  it('that is renewed between the two readings does not lose the value that was current until then', async () => {
    renew('second');
    before = async (stage) => void (await sleep(stage === 'AWSCURRENT' ? 50 : 0));
    answered = () => {
      renew('third');
      answered = () => undefined;
    };
    expect(await readNewestValues('secret')).toContain('second');
  });

  it('is asked for again where no answer comes', async () => {
    before = async () => (asked.length === 1 ? 'ignored' : undefined);
    expect(await readManagedSecret('secret')).toBe('first');
    expect(asked).toEqual(['AWSCURRENT', 'AWSCURRENT']);
  });
});
