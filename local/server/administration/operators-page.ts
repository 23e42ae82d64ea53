import { fileURLToPath } from 'node:url';
import { OperatorError } from '../../../shared/errors/operator-error.ts';
import { Fields, type RequestMessage, type ResponseMessage } from '../../../shared/http/message.ts';
import type { Telemetry } from '../../../shared/ports/telemetry.ts';
import { cacheControl, operatorsHeaders } from '../../../shared/protocol/console/headers.ts';
import { consoleFile } from '../../../shared/protocol/console/pages.ts';
import { ConsoleFiles } from '../console/console-files.ts';
import { fileReply, refusal, type Reply } from '../console/file-reply.ts';

/** The directory that `bin/build.mjs` writes the page to, beside the program's bundle. */
const built = fileURLToPath(new URL('operators', import.meta.url));

/** What the listener of operators has for its own. */
const reserved = '/_stillage/';

/** Answers requests for the page; undefined: the request is for something else. */
type Page = (request: RequestMessage) => Promise<ResponseMessage | undefined>;

/** Returns the operators' page: files, without secrets and cookies. Undefined if it was not built, which is printed: the API works without. */
export async function operatorsPage(telemetry: Pick<Telemetry, 'problem'>): Promise<Page | undefined> {
  try {
    const files = await ConsoleFiles.list(built);
    return async (request) => {
      if (request.target.startsWith(reserved) || !/^(?:GET|HEAD)$/.test(request.method)) return undefined;
      const reply = await replyTo(request, files).catch((error: unknown) => {
        telemetry.problem("reading a file of the operators' page failed", error);
        return refusal(500, 'The file could not be read.');
      });
      return messageOf(request, reply);
    };
  } catch (error) {
    if (!(error instanceof OperatorError)) throw error;
    process.stderr.write(`There is no page for operators: ${error.message}\n`);
    return undefined;
  }
}

async function replyTo({ target, fields }: RequestMessage, files: ConsoleFiles): Promise<Reply> {
  const path = target.split('?', 1)[0]!;
  const file = path.startsWith('/') ? await files.find(consoleFile(path)) : undefined;
  if (file === undefined) return refusal(404, 'There is no such file.');
  const conditions = { acceptEncoding: fields.get('accept-encoding'), ifNoneMatch: fields.get('if-none-match') };
  return fileReply(file, conditions, { ...operatorsHeaders, 'Cache-Control': cacheControl(path) });
}

function messageOf({ method }: RequestMessage, { status, headers, body }: Reply): ResponseMessage {
  const fields = new Fields(Object.entries(headers));
  if (status === 304) return { status, fields, body: undefined };
  if (method !== 'HEAD') return { status, fields, body };
  return { status, fields: fields.add('content-length', String(Buffer.byteLength(body))), body: undefined };
}
