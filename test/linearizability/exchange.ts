import type { IncomingHttpHeaders } from 'node:http';
import { assembled, contentOf, type Content } from '../durability/journal.ts';
import { textOf, textsOf } from '../support/clients/expect-error.ts';
import { queryOf, type Unsigned } from '../support/clients/signer.ts';
import type { Answer, Request } from './objects.ts';

/** A response, from any client. */
export interface Response {
  readonly status: number;
  readonly headers: IncomingHttpHeaders;
  readonly body: Buffer;
  readonly text: string;
}

/** Sends a signed request. Rejects if there is no whole response. */
export type Send = (unsigned: Unsigned) => Promise<Response>;

/** The bytes of all objects of a run, by their ETag without quotes. */
export class Contents {
  readonly #contents = new Map<string, Content>();
  #count = 0;

  /** Returns bytes that no other object has. */
  fresh(size: number): Content {
    this.#count += 1;
    return contentOf(`content ${this.#count}`, size);
  }

  /** @returns the ETag without quotes */
  add(content: Content): string {
    const etag = unquoted(content.etag)!;
    this.#contents.set(etag, content);
    return etag;
  }

  get(etag: string): Content | undefined {
    return this.#contents.get(etag);
  }
}

/** A request and, if it has a body, its content. */
export interface Sendable {
  readonly request: Request;
  readonly content?: Content;
  /** For CompleteMultipartUpload: the id of the upload, and its document. */
  readonly upload?: { readonly id: string; readonly document: string };
}

/** Uploads parts, and returns the completion that makes an object of them. Undefined if the service did not accept a part. */
export async function uploadParts(
  send: Send,
  path: string,
  parts: readonly Content[],
): Promise<{ readonly content: Content; readonly upload: NonNullable<Sendable['upload']> } | undefined> {
  const created = await send({ method: 'POST', path, query: 'uploads' });
  const id = textOf(created.text, 'UploadId');
  if (created.status !== 200 || id === undefined) return undefined;
  let list = '';
  for (const [index, part] of parts.entries()) {
    const query = queryOf({ partNumber: String(index + 1), uploadId: id });
    const { status } = await send({ method: 'PUT', path, query, body: part.bytes });
    if (status !== 200) return undefined;
    list += `<Part><PartNumber>${index + 1}</PartNumber><ETag>${part.etag}</ETag></Part>`;
  }
  const document = `<CompleteMultipartUpload>${list}</CompleteMultipartUpload>`;
  return { content: assembled(parts), upload: { id, document } };
}

/** Sends a request to a bucket, and reads its answer. Returns undefined if the response leaves open whether it was carried out. */
export async function exchange(
  send: Send,
  bucket: string,
  prefix: string,
  sendable: Sendable,
  contents: Contents,
): Promise<Answer | undefined> {
  const { request } = sendable;
  const response = await send(unsignedOf(bucket, prefix, sendable));
  const { status, headers, text } = response;
  if (status === 503 || (text.includes('<Error>') && status < 300)) return undefined;
  if (status >= 500) throw new Error(`${JSON.stringify(request)} was answered ${status}: ${text}`);
  const id = headers['x-amz-version-id'] as string | undefined;
  const answer = { status, id, marker: headers['x-amz-delete-marker'] === 'true' };
  if (status >= 300) return answer;
  switch (request.do) {
    case 'put':
    case 'delete':
    case 'rename':
    case 'set tag':
    case 'set ACL':
    case 'set versioning':
      return answer;
    case 'get':
      return { ...answer, etag: readEtag(request.via, response, contents) };
    case 'copy':
      return { ...answer, etag: unquoted(textOf(text, 'ETag')) };
    case 'get tag':
      return { ...answer, value: textOf(text, 'Value') ?? '' };
    case 'get ACL':
      return { ...answer, value: text.includes('AllUsers') ? 'public-read' : 'private' };
    case 'list':
      return { ...answer, listed: listedOf(text) };
    case 'list versions':
      return { ...answer, versions: versionsOf(text) };
  }
}

const range = { first: 7, last: 23 };

function unsignedOf(bucket: string, prefix: string, { request, content, upload }: Sendable): Unsigned {
  const path = `/${bucket}`;
  switch (request.do) {
    case 'put': {
      const { key, tag, acl, condition } = request;
      const headers = {
        ...(condition === 'absent' && { 'if-none-match': '*' }),
        ...(typeof condition === 'object' && { 'if-match': `"${condition.etag}"` }),
        ...(tag !== undefined && { 'x-amz-tagging': `name=${tag}` }),
        ...(acl !== undefined && { 'x-amz-acl': acl }),
      };
      if (upload === undefined) return { method: 'PUT', path: `${path}/${key}`, headers, body: content!.bytes };
      const query = queryOf({ uploadId: upload.id });
      return { method: 'POST', path: `${path}/${key}`, query, headers, body: upload.document };
    }
    case 'get': {
      const { key, via, version } = request;
      return {
        method: via === 'HEAD' ? 'HEAD' : 'GET',
        path: `${path}/${key}`,
        ...(version !== undefined && { query: queryOf({ versionId: version }) }),
        ...(via === 'range' && { headers: { range: `bytes=${range.first}-${range.last}` } }),
      };
    }
    case 'delete': {
      const { key, version } = request;
      const query = version === undefined ? {} : { query: queryOf({ versionId: version }) };
      return { method: 'DELETE', path: `${path}/${key}`, ...query };
    }
    case 'copy': {
      const headers = { 'x-amz-copy-source': `${path}/${request.from}` };
      return { method: 'PUT', path: `${path}/${request.to}`, headers };
    }
    case 'rename': {
      const headers = { 'x-amz-rename-source': `${path}/${request.from}` };
      return { method: 'PUT', path: `${path}/${request.to}`, query: 'renameObject', headers };
    }
    case 'set tag': {
      const { key, tag } = request;
      const where = { path: `${path}/${key}`, query: 'tagging' };
      if (tag === '') return { method: 'DELETE', ...where };
      const set = `<TagSet><Tag><Key>name</Key><Value>${tag}</Value></Tag></TagSet>`;
      return { method: 'PUT', ...where, body: `<Tagging>${set}</Tagging>` };
    }
    case 'get tag':
      return { path: `${path}/${request.key}`, query: 'tagging' };
    case 'set ACL':
      return { method: 'PUT', path: `${path}/${request.key}`, query: 'acl', headers: { 'x-amz-acl': request.acl } };
    case 'get ACL':
      return { path: `${path}/${request.key}`, query: 'acl' };
    case 'list':
      return { path, query: queryOf({ 'list-type': '2', prefix }) };
    case 'list versions':
      return { path, query: `versions=&${queryOf({ prefix })}` };
    case 'set versioning': {
      const status = request.to === 'on' ? 'Enabled' : 'Suspended';
      const body = `<VersioningConfiguration><Status>${status}</Status></VersioningConfiguration>`;
      return { method: 'PUT', path, query: 'versioning', body };
    }
  }
}

/** The ETag that was read, if its bytes were returned; otherwise a text that no object has. */
function readEtag(via: 'GET' | 'HEAD' | 'range', { headers, body }: Response, contents: Contents): string {
  const etag = unquoted(headers.etag) ?? 'none';
  const content = contents.get(etag);
  if (content === undefined) return `unknown ${etag}`;
  const { bytes } = content;
  const isRight = {
    GET: () => body.equals(bytes),
    HEAD: () => Number(headers['content-length']) === bytes.length,
    range: () =>
      body.equals(bytes.subarray(range.first, range.last + 1)) &&
      headers['content-range'] === `bytes ${range.first}-${range.last}/${bytes.length}`,
  }[via]();
  return isRight ? etag : `other bytes than those of ${etag}`;
}

function listedOf(text: string): Record<string, string> {
  const etags = textsOf(text, 'ETag');
  return Object.fromEntries(textsOf(text, 'Key').map((key, at) => [key, unquoted(etags[at])!]));
}

function versionsOf(text: string): NonNullable<Answer['versions']> {
  const versions: Record<string, [string, string | null][]> = {};
  for (const [, kind, row] of text.matchAll(/<(Version|DeleteMarker)>(.*?)<\/\1>/gs)) {
    const etag = kind === 'Version' ? unquoted(textOf(row!, 'ETag'))! : null;
    (versions[textOf(row!, 'Key')!] ??= []).push([textOf(row!, 'VersionId')!, etag]);
  }
  return versions;
}

function unquoted(etag: string | undefined): string | undefined {
  return etag?.replaceAll(/"|&quot;/g, '');
}
