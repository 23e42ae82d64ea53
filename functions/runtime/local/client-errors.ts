import type { IncomingMessage, Server, ServerResponse } from 'node:http';
import type { Socket } from 'node:net';
import { S3Error } from '../../../shared/errors/s3-error.ts';
import type { Telemetry } from '../../../shared/ports/telemetry.ts';
import { errorDocument } from '../../../shared/xml/error.ts';

interface Rooms {
  readonly telemetry: Telemetry;
  readonly requestId: () => string;
  readonly hostId: string;
}

/** Answers what Node's HTTP parser refuses: with an S3 error, and the connection ends. */
export function answerClientErrors(server: Server, { telemetry, requestId, hostId }: Rooms): void {
  const running = new WeakMap<Socket, Set<ServerResponse>>();
  const note = ({ socket }: IncomingMessage, response: ServerResponse): void => {
    const responses = running.get(socket) ?? new Set();
    running.set(socket, responses.add(response));
    response.once('close', () => responses.delete(response));
  };
  server.on('request', note).on('checkContinue', note).on('checkExpectation', note);

  server.on('clientError', (error: NodeJS.ErrnoException, socket: Socket) => {
    const responses = [...(running.get(socket) ?? [])];
    if (isAfterThem(responses, error)) {
      // What is wrong comes after requests that are whole: they get their answers.
      responses.at(-1)!.once('close', () => socket.end());
      return;
    }
    if (error.code === 'ECONNRESET' || !socket.writable || responses.some(({ headersSent }) => headersSent)) {
      socket.destroy();
      return;
    }
    const refusal = s3ErrorOf(error.code);
    const { status, code } = refusal;
    const id = requestId();
    const body = errorDocument(refusal, { requestId: id, hostId });
    socket.end(
      `HTTP/1.1 ${status} ${code}\r\nx-amz-request-id: ${id}\r\nx-amz-id-2: ${hostId}\r\n` +
        `date: ${new Date().toUTCString()}\r\nserver: Stillage\r\ncontent-type: application/xml\r\n` +
        `connection: close\r\ncontent-length: ${Buffer.byteLength(body)}\r\n\r\n${body}`,
    );
    // A request that has begun is logged as one whose body broke off.
    if (responses.length > 0) return;
    const bytes = { bytesIn: 0, bytesOut: Buffer.byteLength(body) };
    telemetry.request({ requestId: id, operation: 'Unknown', method: '-', status, code, ...bytes, milliseconds: 0 });
  });
}

/** Whether an error of the parser concerns none of the requests that are being answered. */
function isAfterThem(responses: readonly ServerResponse[], { code }: NodeJS.ErrnoException): boolean {
  return responses.length > 0 && code?.startsWith('HPE_') === true && responses.every(({ req }) => req.complete);
}

function s3ErrorOf(code: string | undefined): S3Error {
  switch (code) {
    case 'HPE_HEADER_OVERFLOW':
      return new S3Error('RequestHeaderSectionTooLarge');
    case 'ERR_HTTP_REQUEST_TIMEOUT':
      return new S3Error('RequestTimeout', { status: 408 });
    case 'HPE_INVALID_CHUNK_SIZE':
    case 'HPE_INVALID_EOF_STATE':
      return new S3Error('IncompleteBody');
    default:
      return new S3Error('InvalidRequest', { message: 'The request is not well-formed HTTP.' });
  }
}
