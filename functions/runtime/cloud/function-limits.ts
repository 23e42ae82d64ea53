import { S3Error } from '../../../shared/errors/s3-error.ts';
import type { AnyOperation, Answer } from '../../../shared/protocol/operation.ts';

/** What Lambda takes back from a function it waits for: https://docs.aws.amazon.com/lambda/latest/dg/gettingstarted-limits.html */
const payloadBytes = 6 * 1024 * 1024;
/** Of that, for the headers and the JSON around them. */
const envelopeBytes = 64 * 1024;

/** The longest body of an answer, which travels as base64: 4.4 MiB. */
export const maximumAnswerBytes = ((payloadBytes - envelopeBytes) / 4) * 3;

/** An operation that refuses, as an S3 error, to answer with more bytes than a function can give. */
export function withinFunctionLimits(operation: AnyOperation): AnyOperation {
  return {
    ...operation,
    render: (...step) => {
      const answer = operation.render(...step);
      const length = answerLength(answer);
      if (answer.body === undefined || length <= maximumAnswerBytes) return answer;
      abandon(answer.body);
      throw new S3Error('NotImplemented', {
        message:
          'An answer of this size needs the byte lane, which this deployment does not have. Read the object in ranges.',
        details: { ProposedSize: String(length), MaxSizeAllowed: String(maximumAnswerBytes) },
      });
    },
  };
}

function answerLength({ fields }: Answer): number {
  for (const [name, value] of fields ?? []) if (name === 'content-length') return Number(value);
  return 0;
}

/** Frees what a body that nobody will read holds open. */
function abandon(body: NonNullable<Answer['body']>): void {
  if (!(Symbol.asyncIterator in body)) return;
  body[Symbol.asyncIterator]()
    .return?.()
    .catch(() => undefined);
}
