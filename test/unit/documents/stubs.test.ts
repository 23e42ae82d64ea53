import { expect, it } from 'vitest';
import * as stubs from '../../../shared/documents/stubs.ts';
import { golden, namespace } from '../xml/golden.ts';

it.each([
  [
    stubs.requestPayment.write('BucketOwner', namespace),
    golden`<RequestPaymentConfiguration xmlns="http://s3.amazonaws.com/doc/2006-03-01/"><Payer>BucketOwner</Payer></RequestPaymentConfiguration>`,
  ],
  [
    stubs.acceleration.write(undefined, namespace),
    golden`<AccelerateConfiguration xmlns="http://s3.amazonaws.com/doc/2006-03-01/"/>`,
  ],
])('%s', (written, document) => {
  expect(written).toBe(document);
});

it('policyStatus', () => {
  expect(stubs.policyStatus.write(true, namespace)).toBe(
    golden`<PolicyStatus xmlns="http://s3.amazonaws.com/doc/2006-03-01/"><IsPublic>true</IsPublic></PolicyStatus>`,
  );
});
