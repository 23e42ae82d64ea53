import type { Socket } from 'node:net';
import { S3Error } from '../../../shared/errors/s3-error.ts';
import { errorDocument } from '../../../shared/xml/error.ts';

/** Answers what Node's HTTP parser refuses before there is a request: with an S3 error, and the connection ends. */
export function answerClientError(error: NodeJS.ErrnoException, socket: Socket): void {
  if (error.code === 'ECONNRESET' || !socket.writable) {
    socket.destroy();
    return;
  }
  const refusal = s3ErrorOf(error.code);
  const body = errorDocument(refusal, { requestId: '-', hostId: '-' });
  socket.end(
    `HTTP/1.1 ${refusal.status} ${refusal.code}\r\ncontent-type: application/xml\r\nconnection: close\r\n` +
      `date: ${new Date().toUTCString()}\r\ncontent-length: ${Buffer.byteLength(body)}\r\n\r\n${body}`,
  );
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
