import { IAMClient } from '@aws-sdk/client-iam';
import { expect } from 'vitest';
import { isCloud } from '../cloud/deployed.ts';
import type { Key } from './signer.ts';

/** The IAM client of the SDK, as the owner of a key. */
export function iamClient(endpoint: string, { accessKeyId, secretAccessKey }: Key, sessionToken?: string): IAMClient {
  return new IAMClient({
    endpoint,
    region: 'us-east-1',
    credentials: { accessKeyId, secretAccessKey, ...(sessionToken !== undefined && { sessionToken }) },
    maxAttempts: 1,
  });
}

/** Returns a policy that allows actions on resources. */
export function allowing(Action: string | readonly string[], Resource: string | readonly string[] = '*'): string {
  return JSON.stringify({ Version: '2012-10-17', Statement: [{ Effect: 'Allow', Action, Resource }] });
}

/** Returns the name of the error of a request, or `allowed`. */
export function outcome(request: Promise<unknown>): Promise<string> {
  return request.then(
    () => 'allowed',
    (error: Error) => error.name,
  );
}

/** Expects an outcome after a change in IAM: of the next request on one machine, of one within seconds in the cloud. */
export function settles(tried: () => Promise<string>): { toBe(expected: string): Promise<void> } {
  return isCloud ? expect.poll(tried) : expect(tried()).resolves;
}

/** Returns a trust policy that lets somebody assume a role. */
export function trusting(Principal: object | '*', more: object = {}): string {
  const Statement = [{ Effect: 'Allow', Principal, Action: 'sts:AssumeRole', ...more }];
  return JSON.stringify({ Version: '2012-10-17', Statement });
}

/** Returns a request of an action, as bytes. */
export function iamForm(parameters: Readonly<Record<string, string>>) {
  const form = new URLSearchParams({ Version: '2010-05-08', ...parameters });
  return {
    method: 'POST',
    path: '/',
    headers: { 'content-type': 'application/x-www-form-urlencoded; charset=utf-8' },
    body: form.toString().replaceAll('+', '%20'),
    service: 'iam',
  } as const;
}
