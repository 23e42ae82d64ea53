import { join } from 'node:path';
import { awsEnvironment } from './aws-cli.ts';
import { bucketName } from './clients.ts';
import { long } from '../storage/contents.ts';
import { reverseProxy, type Endpoint, type Way } from '../programs/endpoint.ts';
import { isInstalled, run } from '../programs/programs.ts';

export const boto3Installed = isInstalled('python3', ['-c', 'import boto3']);
export const howToInstallBoto3 = 'boto3 is not installed: pip install boto3, or apt-get install python3-boto3';

/** The steps of boto3_session.py. */
export const boto3Steps = [
  'create_bucket',
  'put_bytes',
  'put_stream',
  'put_empty',
  'get_ranges',
  'head',
  'list_objects',
  'awkward_keys',
  'conditions',
  'checksums',
  'presigned_default',
  'presigned_v4',
  'headers_v2',
  'transfer',
  'copy',
  'delete',
] as const;

/**
 * Runs boto3_session.py, and returns the outcome of each step: `ok`, or the error.
 * @param behind the reverse proxy, if not the one of the environment
 */
export async function boto3Session(
  endpoint: Endpoint,
  style: Way['style'],
  behind = reverseProxy,
): Promise<Record<string, string>> {
  const script = join(import.meta.dirname, '../../clients/boto3_session.py');
  const inHost = { ...endpoint.proxy.env, AWS_ENDPOINT_URL: endpoint.hostStyleUrl };
  const env = { ...awsEnvironment(endpoint), ...(style === 'host name' ? inHost : {}) };
  // docs/running.md
  const colour = behind === 'caddy' ? 'Colour' : 'colour';
  const args = [bucketName('boto3'), long ? '100' : '17', style, colour];
  const { stdout } = await run('python3', [script, ...args], { env });
  return JSON.parse(stdout) as Record<string, string>;
}
