import type { IncomingMessage, Server, ServerResponse } from 'node:http';
import type { Socket } from 'node:net';
import type { Duplex } from 'node:stream';
import { S3Error } from '../errors/s3-error.ts';
import { formatHttpDate } from '../http/fields/dates.ts';
import { Fields } from '../http/message.ts';
import type { Telemetry } from '../ports/telemetry.ts';
import { consoleCorsFields } from '../protocol/console/cors.ts';
import { routes } from '../protocol/operation-table.ts';
import { errorDocument } from '../xml/error.ts';
import { endConnection, isDiscarded } from './last-response.ts';
import { stopParsing } from './connections/sliced-reading.ts';

interface Deps {
  readonly telemetry: Telemetry;
  readonly requestId: () => string;
  readonly hostId: string;
  /** Origins of the console, whose pages may read these errors. */
  readonly consoleOrigins: ReadonlySet<string>;
}

/** A well-formed request line (RFC 9112 §3) with a method that Node's parser does not know. */
const unknownMethod = /^[!#$%&'*+.^_`|~\w-]+ \S+ HTTP\/1\.[01]\r\n/;

/** Codes of errors after which a client cannot read an answer. */
const unanswered: ReadonlySet<string> = new Set(['ECONNRESET', 'ERR_TLS_HANDSHAKE_TIMEOUT']);

/** Node's error for a request that it could not parse. */
interface ClientError extends NodeJS.ErrnoException {
  /** The last bytes received. */
  readonly rawPacket?: Buffer;
}

/** Answers requests that Node's HTTP parser refuses, and CONNECT, with an S3 error, and closes the connection. */
export function answerClientErrors(server: Server, { telemetry, requestId, hostId, consoleOrigins }: Deps): void {
  const running = new WeakMap<Duplex, Set<ServerResponse>>();
  const note = ({ socket }: IncomingMessage, response: ServerResponse): void => {
    const responses = running.get(socket) ?? new Set();
    running.set(socket, responses.add(response));
    response.once('close', () => responses.delete(response));
  };
  server.on('request', note).on('checkContinue', note).on('checkExpectation', note);

  /** @param by the method or, if the request has begun, the request: it is logged as one with an incomplete body */
  const refuse = (socket: Duplex, refusal: S3Error, by: string | IncomingMessage): void => {
    const { status, code } = refusal;
    const id = requestId();
    const body = errorDocument(refusal, { requestId: id, hostId });
    const cors = typeof by === 'string' ? [] : corsFieldsOf(by, consoleOrigins);
    const headers = [...Object.entries(refusal.headers), ...cors].map(([name, value]) => `${name}: ${value}\r\n`);
    endConnection(
      socket,
      `HTTP/1.1 ${status} ${code}\r\nx-amz-request-id: ${id}\r\nx-amz-id-2: ${hostId}\r\n` +
        `date: ${formatHttpDate(Date.now())}\r\nserver: Stillage\r\ncontent-type: application/xml\r\n${headers.join('')}` +
        `connection: close\r\ncontent-length: ${Buffer.byteLength(body)}\r\n\r\n${body}`,
    );
    if (typeof by !== 'string') return;
    const method = by;
    const bytes = { bytesIn: 0, bytesOut: Buffer.byteLength(body) };
    telemetry.request({ requestId: id, operation: 'Unknown', method, status, code, ...bytes, milliseconds: 0 });
  };

  // CONNECT: Node hands over the connection. Earlier requests on it get no response.
  server.on('connect', (_, socket: Duplex) => {
    socket.on('error', () => undefined).resume();
    if ((running.get(socket)?.size ?? 0) > 0) socket.destroy();
    else refuse(socket, methodNotAllowed('CONNECT'), 'CONNECT');
  });

  server.on('clientError', (error: ClientError, socket: Socket) => {
    // The parser may be in the middle of a slice.
    if (isDiscarded(socket)) return;
    stopParsing(socket);
    const responses = [...(running.get(socket) ?? [])];
    if (isAfterThem(responses, error)) {
      // The error follows complete requests, which get their responses.
      responses.at(-1)!.once('close', () => endConnection(socket));
      return;
    }
    if (unanswered.has(error.code ?? '') || !socket.writable || responses.some(({ headersSent }) => headersSent)) {
      socket.destroy();
      return;
    }
    refuse(socket, s3ErrorOf(error), responses.at(-1)?.req ?? '-');
  });
}

/** Returns the CORS headers for a refusal of a request with a well-formed head. */
function corsFieldsOf({ method = '', rawHeaders }: IncomingMessage, origins: ReadonlySet<string>) {
  return consoleCorsFields({ method, fields: Fields.fromRaw(rawHeaders) }, origins) ?? [];
}

/** Returns whether an error of the parser concerns none of the requests in progress. */
function isAfterThem(responses: readonly ServerResponse[], { code }: NodeJS.ErrnoException): boolean {
  return responses.length > 0 && code?.startsWith('HPE_') === true && responses.every(({ req }) => req.complete);
}

function s3ErrorOf({ code, rawPacket }: ClientError): S3Error {
  switch (code) {
    case 'HPE_INVALID_METHOD': {
      const line = rawPacket?.toString('latin1') ?? '';
      return unknownMethod.test(line) ? methodNotAllowed(line.slice(0, line.indexOf(' '))) : notHttp();
    }
    case 'HPE_HEADER_OVERFLOW':
      return new S3Error('RequestHeaderSectionTooLarge');
    case 'ERR_HTTP_REQUEST_TIMEOUT':
      return new S3Error('RequestTimeout', { status: 408 });
    case 'HPE_INVALID_CHUNK_SIZE':
    case 'HPE_INVALID_EOF_STATE':
      return new S3Error('IncompleteBody');
    default:
      return notHttp();
  }
}

function notHttp(): S3Error {
  return new S3Error('InvalidRequest', { message: 'The request is not well-formed HTTP.' });
}

function methodNotAllowed(method: string): S3Error {
  const allow = [...new Set(routes.map((route) => route.method))].join(', ');
  return new S3Error('MethodNotAllowed', { details: { Method: method }, headers: { allow } });
}
