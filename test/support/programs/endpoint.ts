import { CreateBucketCommand, type S3Client, type S3ClientConfig } from '@aws-sdk/client-s3';
import { once } from 'node:events';
import {
  Agent as HttpAgent,
  request as requestHttp,
  type IncomingHttpHeaders,
  type IncomingMessage,
  type OutgoingHttpHeaders,
} from 'node:http';
import { Agent as HttpsAgent, request as requestHttps } from 'node:https';
import { text } from 'node:stream/consumers';
import { mkdtemp, readFile, rm } from 'node:fs/promises';
import { lookup as resolve, type LookupAddress, type LookupOptions } from 'node:dns';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { issueCertificate, type Certificates } from '../clients/certificates.ts';
import { bucketName, sdk } from '../clients/clients.ts';
import { long } from '../storage/contents.ts';
import { deployed, isCloud } from '../cloud/deployed.ts';
import { startForwardProxy } from '../clients/forward-proxy.ts';
import { startCaddy, startNginx } from '../clients/reverse-proxies.ts';
import { alice, startService, type Service } from './server.ts';
import { startTlsFront } from '../clients/tls-front.ts';

export const schemes = ['http', 'https'] as const;
export type Scheme = (typeof schemes)[number];

/** A way of addressing buckets. */
export interface Way {
  readonly scheme: Scheme;
  readonly style: 'path' | 'host name';
}

/** Every way. */
export const ways: readonly Way[] = schemes.flatMap((scheme) => [
  { scheme, style: 'path' },
  { scheme, style: 'host name' },
]);

/** For clients that take long: each scheme and each style once, and every way where time does not matter. */
export const someWays: readonly Way[] = long
  ? ways
  : [
      { scheme: 'http', style: 'path' },
      { scheme: 'https', style: 'host name' },
    ];

/** A service, or a deployment in the cloud, and all that a client must know to reach it. */
export interface Endpoint {
  readonly scheme: Scheme;
  /** The process, if it was started here. */
  readonly started: Service | undefined;
  readonly port: number;
  /** For buckets in the path: `https://127.0.0.1:1234` */
  readonly url: string;
  /** For buckets in the host name: `https://s3.localhost:1234` */
  readonly hostStyleUrl: string;
  /** `s3.localhost:1234` */
  readonly hostStyleHost: string;
  /** The authority to trust: a PEM file, and its text. */
  readonly authority: { readonly file: string; readonly text: string };
  /** A proxy through which programs in Python or Go resolve host names under `.localhost`. */
  readonly proxy: { readonly env: Readonly<Record<string, string>>; readonly port: number };
  /** A folder for the client's files. */
  readonly folder: string;
  newBucket(): Promise<string>;
  stop(): Promise<void>;
}

const longDomain = 's3.localhost';
/**
 * Over HTTP the default. Over HTTPS a longer one, because programs do not accept a certificate for `*.localhost`. In the cloud
 * the longer one for both, so that they are one deployment.
 */
const domains = { http: isCloud ? longDomain : 'localhost', https: longDomain } as const;

/** The reverse proxies of these tests, as docs/recipes configures them: `TEST_PROXY=nginx`. */
const reverseProxies = { nginx: startNginx, caddy: startCaddy } as const;
export const reverseProxy = process.env['TEST_PROXY'];

/**
 * Starts a service over HTTP or HTTPS, perhaps behind a reverse proxy, or connects to a deployment in the cloud in the same way.
 * @param behind the reverse proxy, if not the one of the environment
 */
export async function startEndpoint(scheme: Scheme, behind = reverseProxy): Promise<Endpoint> {
  const domain = domains[scheme];
  const folder = await mkdtemp(join(tmpdir(), 'stillage-client-'));
  const certificates = await issueCertificate(folder, ['localhost', '127.0.0.1', domain, `*.${domain}`]);
  const { started, port, stop } = await (isCloud
    ? reach(scheme, certificates)
    : behind
      ? startBehind(behind, scheme, certificates)
      : start(scheme, certificates));
  const proxy = await startForwardProxy();
  const endpoint: Endpoint = {
    scheme,
    started,
    port,
    url: `${scheme}://127.0.0.1:${port}`,
    hostStyleUrl: `${scheme}://${domain}:${port}`,
    hostStyleHost: `${domain}:${port}`,
    authority: { file: certificates.authority, text: await readFile(certificates.authority, 'utf8') },
    proxy: { env: { http_proxy: proxy.url, https_proxy: proxy.url }, port: proxy.port },
    folder,
    newBucket: async () => {
      const Bucket = bucketName();
      await sdkAt(endpoint).send(new CreateBucketCommand({ Bucket }));
      return Bucket;
    },
    stop: async () => {
      await proxy.stop();
      await stop();
      await rm(folder, { recursive: true, force: true });
    },
  };
  return endpoint;
}

/** A server that listens for clients. */
interface Listener {
  readonly started: Service | undefined;
  readonly port: number;
  readonly stop: () => Promise<unknown>;
}

async function start(scheme: Scheme, { certificate, key }: Certificates): Promise<Listener> {
  const tls = ['--domain', domains[scheme], '--tls-cert', certificate, '--tls-key', key];
  const started = await startService({ args: scheme === 'https' ? tls : [] });
  return { started, port: started.port, stop: () => started.stop() };
}

async function startBehind(behind: string, scheme: Scheme, certificates: Certificates): Promise<Listener> {
  if (behind !== 'nginx' && behind !== 'caddy') throw new Error('TEST_PROXY is nginx or caddy');
  const domain = domains[scheme];
  const started = await startService({ args: ['--domain', domain, '--trust-proxy', '127.0.0.1'] });
  const folder = await mkdtemp(join(tmpdir(), 'stillage-proxy-'));
  const proxy = await reverseProxies[behind]({ folder, certificates, port: started.port, domain });
  const stop = async (): Promise<void> => {
    await proxy.stop();
    await started.stop();
    await rm(folder, { recursive: true });
  };
  return { started, port: proxy.ports[scheme], stop };
}

/**
 * A deployment goes after the last file. The stand-in for its distribution has no TLS of its own. No client removes its buckets: it
 * lets them have more than they may by default.
 */
async function reach(scheme: Scheme, certificates: Certificates): Promise<Listener> {
  const { url } = await deployed({ args: ['--domain', domains[scheme], '--limit', 'bucketsPerProject=1000'] });
  const port = Number(new URL(url).port);
  if (scheme === 'http') return { started: undefined, port, stop: () => Promise.resolve() };
  return { started: undefined, ...(await startTlsFront(port, certificates)) };
}

/** The AWS SDK for JavaScript with its default settings, which trusts the test's authority. */
export function sdkAt(endpoint: Endpoint, config: S3ClientConfig = {}): S3Client {
  const { httpAgent, httpsAgent } = agents(endpoint);
  return sdk(endpoint, alice, { requestHandler: { httpAgent, httpsAgent }, ...config });
}

/** Node agents that trust the test's authority and find the host names under `.localhost`. */
export function agents(endpoint: Endpoint): { httpAgent: HttpAgent; httpsAgent: HttpsAgent; agent: HttpAgent } {
  const httpAgent = new HttpAgent({ keepAlive: true, lookup: lookupLocalhost });
  const httpsAgent = new HttpsAgent({ keepAlive: true, lookup: lookupLocalhost, ca: endpoint.authority.text });
  return { httpAgent, httpsAgent, agent: endpoint.scheme === 'https' ? httpsAgent : httpAgent };
}

type Callback = (error: Error | null, address: string | LookupAddress[], family?: number) => void;

/** The `lookup` of a Node agent that resolves `.localhost` according to RFC 6761. */
function lookupLocalhost(hostname: string, options: LookupOptions, callback: Callback): void {
  resolve(hostname.endsWith('.localhost') ? '127.0.0.1' : hostname, options, callback as never);
}

export interface PlainAnswer {
  readonly status: number;
  readonly headers: IncomingHttpHeaders;
  readonly text: string;
}

/** Fetches a URL, as a browser would that knows `.localhost` and trusts the test's authority. */
export async function send(
  endpoint: Endpoint,
  url: string,
  {
    method = 'GET',
    body,
    headers = {},
  }: { method?: string; body?: string | Uint8Array; headers?: OutgoingHttpHeaders } = {},
): Promise<PlainAnswer> {
  const options = { method, headers, lookup: lookupLocalhost as never };
  const request = url.startsWith('https:')
    ? requestHttps(url, { ...options, ca: endpoint.authority.text })
    : requestHttp(url, options);
  request.end(body);
  const [answer] = (await once(request, 'response')) as [IncomingMessage];
  return { status: answer.statusCode!, headers: answer.headers, text: await text(answer) };
}
