import { S3Error } from '../../shared/errors/s3-error.ts';
import type { AnyOperation, Answer } from '../../shared/protocol/operation.ts';

/** The maximum response payload of a synchronous invocation: https://docs.aws.amazon.com/lambda/latest/dg/gettingstarted-limits.html */
const payloadBytes = 6 * 1024 * 1024;
/** The part of it reserved for headers and JSON. */
const envelopeBytes = 64 * 1024;

/** The longest response body, which is sent as base64: 4.4 MiB. */
export const maximumAnswerBytes = ((payloadBytes - envelopeBytes) / 4) * 3;

/** Returns an operation that answers with an S3 error if its response is too long for a function. */
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

/** Releases the resources of an unread body. */
function abandon(body: NonNullable<Answer['body']>): void {
  if (!(Symbol.asyncIterator in body)) return;
  body[Symbol.asyncIterator]()
    .return?.()
    .catch(() => undefined);
}
