import { expect } from 'vitest';
import { memoryOf } from '../resources/processes.ts';
import { textOf } from '../support/clients/expect-error.ts';
import { freePort } from '../support/runs/free-port.ts';
import { PooledClient } from '../support/clients/pooled-client.ts';
import { alice, bob, startService, type Service } from '../support/programs/server.ts';
import type { Unsigned } from '../support/clients/signer.ts';
import type { Victim } from './attacks.ts';

const MiB = 1024 * 1024;

/** Of documents and bodies, the service may have so many in memory, on every machine. */
export const places = 64;

/** The size of the object that can be copied. */
export const copiedBytes = 8 * MiB;

/** A service with what is worth asking for. */
export class AttackedService implements Victim {
  readonly service: Service;
  readonly hosts: Victim['hosts'];
  readonly #clients: { readonly alice: PooledClient; readonly bob: PooledClient };
  /** The memory before the first attack. */
  memory = 0;
  link = '';
  readonly uploads = { public: '', private: '', own: '' };

  private constructor(service: Service, ports: { readonly console: number; readonly metrics: number }) {
    this.service = service;
    this.hosts = { console: `127.0.0.1:${ports.console}`, metrics: `127.0.0.1:${ports.metrics}` };
    this.#clients = { alice: new PooledClient(service, alice, 64), bob: new PooledClient(service, bob, 1) };
  }

  /**
   * @param keys in a bucket that everybody may list: 1,000 fill a page
   * @param env of the service: for planted faults
   */
  static async start(keys = 1000, env: Readonly<Record<string, string>> = {}): Promise<AttackedService> {
    const ports = { console: await freePort(), metrics: await freePort() };
    const limits = `concurrentDownloads=${places},concurrentUploads=${places}`;
    const root = process.env['TEST_ROOT'];
    const service = await startService({
      ...(root !== undefined && { root }),
      args: ['--metrics-port', String(ports.metrics), '--limit', limits, '--scrub-rate', '0'],
      env: { STILLAGE_CONSOLE_PORT: String(ports.console), STILLAGE_WEBSITE_DOMAIN: 'website.localhost', ...env },
    });
    const attacked = new AttackedService(service, ports);
    try {
      await attacked.#furnish(keys);
      attacked.memory = memoryOf(service.pid);
    } catch (error) {
      await attacked.end();
      throw error;
    }
    return attacked;
  }

  get host(): string {
    return new URL(this.service.url).host;
  }

  /** Returns the port of the listener with a route. */
  portOf(on: string): number {
    if (on === 'console' || on === 'metrics') return Number(this.hosts[on].split(':')[1]);
    return this.service.port;
  }

  /** Brings back what a tenant may have removed from its own bucket. */
  async restore(): Promise<void> {
    const { bob: tenant } = this.#clients;
    await tenant.send({ method: 'PUT', path: '/own' });
    const { status } = await tenant.send({ method: 'HEAD', path: '/own/large' });
    if (status !== 200) await tenant.send({ method: 'PUT', path: '/own/large', body: Buffer.alloc(MiB) });
    const parts = { path: '/own/large', query: `uploadId=${this.uploads.own}` };
    if (this.uploads.own === '' || (await tenant.send(parts)).status !== 200)
      this.uploads.own = await beginUpload(tenant, 'own');
  }

  /** Expects that the service is the process that it was, and serves others. */
  async expectWhole(): Promise<void> {
    expect(this.service.process.exitCode).toBeNull();
    expect((await this.#clients.alice.send({ path: '/private' })).status).toBe(200);
    expect(this.service.output.stdout).not.toMatch(/"status":50[02]/);
  }

  async end(): Promise<void> {
    for (const client of Object.values(this.#clients)) client.close();
    await this.service.kill();
  }

  /** The listing has the longest page that there is, as each character of its keys takes five in XML. */
  async #furnish(count: number): Promise<void> {
    const make = async (request: Unsigned): Promise<string> => {
      const { status, text } = await this.#clients.alice.send({ method: 'PUT', ...request });
      expect([200, 201], text).toContain(status);
      return text;
    };
    const isPublic = { 'x-amz-acl': 'public-read' };
    await make({ path: '/public', headers: isPublic });
    await make({ path: '/private' });
    await make({ path: '/public/large', headers: isPublic, body: Buffer.alloc(copiedBytes) });
    const keys = Array.from({ length: count }, (_, at) => `/public/${at}${'%26'.repeat(900)}`);
    await Promise.all(keys.map((path) => make({ path, body: path })));
    const page = '<IndexDocument><Suffix>large</Suffix></IndexDocument>';
    await make({ path: '/public', query: 'website', body: `<WebsiteConfiguration>${page}</WebsiteConfiguration>` });
    const link = await make({ method: 'POST', path: '/public/large', query: 'public-link' });
    this.link = new URL(textOf(link, 'Url')!).pathname;
    for (const bucket of ['public', 'private'] as const)
      this.uploads[bucket] = await beginUpload(this.#clients.alice, bucket);
  }
}

async function beginUpload(client: PooledClient, bucket: string): Promise<string> {
  const { text } = await client.send({ method: 'POST', path: `/${bucket}/large`, query: 'uploads' });
  return textOf(text, 'UploadId')!;
}
