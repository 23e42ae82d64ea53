import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { Endpoint, Way } from '../programs/endpoint.ts';
import { isInstalled, run, type Outcome, type RunOptions } from '../programs/programs.ts';
import { alice } from '../programs/server.ts';

export const s3cmdInstalled = isInstalled('s3cmd');
export const howToInstallS3cmd = 's3cmd is not installed: apt-get install s3cmd';

/** Runs s3cmd with arguments. */
export type S3cmd = (args: readonly string[], options?: RunOptions) => Promise<Outcome>;

/** Configures s3cmd for a service. */
export async function s3cmdFor(endpoint: Endpoint, style: Way['style'], signature: 'v2' | 'v4'): Promise<S3cmd> {
  const pathStyleHost = new URL(endpoint.url).host;
  const config = {
    access_key: alice.accessKeyId,
    secret_key: alice.secretAccessKey,
    use_https: endpoint.scheme === 'https' ? 'True' : 'False',
    signurl_use_https: endpoint.scheme === 'https' ? 'True' : 'False',
    ca_certs_file: endpoint.authority.file,
    signature_v2: signature === 'v2' ? 'True' : 'False',
    host_base: style === 'path' ? pathStyleHost : endpoint.hostStyleHost,
    host_bucket: style === 'path' ? pathStyleHost : `%(bucket)s.${endpoint.hostStyleHost}`,
    ...(style === 'path' ? {} : { proxy_host: '127.0.0.1', proxy_port: String(endpoint.proxy.port) }),
  };
  const file = join(endpoint.folder, 's3cfg');
  const lines = Object.entries(config).map(([name, value]) => `${name} = ${value}`);
  await writeFile(file, ['[default]', ...lines, ''].join('\n'));
  return (args, options) => run('s3cmd', ['--config', file, '--no-progress', ...args], options);
}
