import { expect } from 'vitest';
import type { RawResponse } from './raw-client.ts';

/** The text of the first element of a name, escapes resolved. */
export function textOf(xml: string, element: string): string | undefined {
  return textsOf(xml, element)[0];
}

/** The texts of all elements of a name, in document order. */
export function textsOf(xml: string, element: string): string[] {
  const pattern = new RegExp(`<${element}(?:/>|(?: [^>]*)?>([^<]*)</${element}>)`, 'g');
  return Array.from(xml.matchAll(pattern), ([, text = '']) => unescape(text));
}

const predefined: Readonly<Record<string, string>> = { amp: '&', lt: '<', gt: '>', quot: '"', apos: "'" };

function unescape(text: string): string {
  return text.replace(/&(?:#x([0-9A-Fa-f]+)|#(\d+)|(\w+));/g, (_, hex?: string, decimal?: string, name?: string) =>
    name === undefined ? String.fromCodePoint(parseInt(hex ?? decimal!, hex ? 16 : 10)) : predefined[name]!,
  );
}

/**
 * Expects a response to be an error in S3's format; all else may differ.
 * https://docs.aws.amazon.com/AmazonS3/latest/API/ErrorResponses.html#RESTErrorResponses
 */
export function expectError(response: RawResponse, status: number, code: string): void {
  const found = { status: response.status, code: textOf(response.text, 'Code') };
  expect(found, response.text).toEqual({ status, code });
  expect(response.header('content-type')).toBe('application/xml');
  expect(textOf(response.text, 'RequestId')).toBe(response.header('x-amz-request-id'));
}

/** Returns a matcher for the exception of an SDK for an error of the service. */
export function s3Error(code: string, status: number, message?: string): unknown {
  return expect.objectContaining({
    name: code,
    ...(message !== undefined && { message }),
    $metadata: expect.objectContaining({ httpStatusCode: status }) as object,
  });
}

/** Returns a matcher for the exception of an SDK for an error response to HEAD, which has no body for the code. */
export function bodilessError(status: number): unknown {
  return expect.objectContaining({ $metadata: expect.objectContaining({ httpStatusCode: status }) as object });
}
