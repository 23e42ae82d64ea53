import { postResponse } from '../../shared/documents/multipart.ts';
import { invalidArgument, S3Error } from '../../shared/errors/s3-error.ts';
import { checkKey } from '../../shared/http/address.ts';
import type { Fields } from '../../shared/http/message.ts';
import { evaluated } from '../../shared/http/fields/preconditions.ts';
import { etagOf } from '../../shared/storage/versions/versions.ts';
import { readWantedEncryption } from '../../shared/protocol/objects/encryption.ts';
import { tagLimits } from '../../shared/protocol/limits.ts';
import { objectUrl } from '../../shared/protocol/objects/object-url.ts';
import { defineOperation } from '../../shared/protocol/operation.ts';
import { storedFields, storeObject } from '../../shared/protocol/objects/store-object.ts';
import { uploadQuestions } from '../../shared/protocol/objects/questions.ts';
import { readUploadHeaders, type UploadHeaders } from '../../shared/protocol/objects/upload-headers.ts';
import { writeComparison } from '../../shared/protocol/objects/write-guard.ts';
import { readTagging, type TagLimits } from '../../shared/protocol/tags.ts';

/**
 * Uploads the file of an HTML form. Form fields take the place of header fields; authentication has checked them against the
 * policy: https://docs.aws.amazon.com/AmazonS3/latest/API/RESTObjectPOST.html
 */
export const postObject = defineOperation({
  name: 'PostObject',
  on: 'bucket',
  body: 'form',
  needs: { table: 'write', blobs: 'write' },
  conditions: evaluated.ofWrite,

  parse: (request, conditions) => {
    const { bucket, form, fields, settings, secure, remoteAddress } = request;
    checkBucketField(form.fields, bucket);
    refuseMisplacedHeaders(fields);
    return {
      bucket,
      key: readKey(form.key, settings.limits.keyBytes),
      encryption: readWantedEncryption({ fields: form.headers, secure, remoteAddress, settings }),
      headers: withTagging(
        readUploadHeaders(form.headers, settings.limits),
        form.fields.get('tagging'),
        tagLimits(settings.limits, 'tagsPerObject'),
      ),
      conditions,
      success: readSuccess(form.fields),
    };
  },

  authorise: ({ bucket, key, headers, conditions }, { form, fields }) => [
    ...uploadQuestions({ bucket, key }, form.headers, headers.tags, {
      facts: {
        's3:if-match': form.headers.get('if-match') ?? fields.get('if-match'),
        's3:if-none-match': form.headers.get('if-none-match') ?? fields.get('if-none-match'),
      },
    }),
    ...writeComparison({ bucket, key }, conditions),
  ],

  act: (upload, context) => storeObject(upload, context),

  render: (stored, upload, request) => {
    const { bucket, key, success } = upload;
    const etag = etagOf(stored.version);
    const location =
      'redirect' in success ? redirection(success.redirect, { bucket, key, etag }) : objectUrl(request, key);
    return {
      status: 'redirect' in success ? 303 : success.status,
      fields: [...storedFields(stored, upload), ['location', location]],
      ...('status' in success &&
        success.status === 201 && {
          xml: postResponse.write({ location, bucket, key, etag }, undefined),
        }),
    };
  },
});

/** Checks that the field `bucket` names the bucket of the URL. Trusting it caused https://nvd.nist.gov/vuln/detail/CVE-2023-43040. */
function checkBucketField(fields: Fields, bucket: string): void {
  const said = fields.get('bucket');
  if (said === undefined || said === bucket) return;
  throw invalidArgument('bucket', said, "The field 'bucket' names another bucket than the request was sent to.");
}

const misplaced = ['x-amz-server-side-encryption', 'x-amz-acl', 'x-amz-grant-', 'x-amz-object-lock-'];

/**
 * Refuses headers that must be form fields. Ignoring them would store objects unencrypted that should be encrypted, private ones that
 * should be public, or ones without a lock that should have one.
 */
function refuseMisplacedHeaders(fields: Fields): void {
  const found = [...fields.names()].find((name) => misplaced.some((prefix) => name.startsWith(prefix)));
  if (found === undefined) return;
  throw new S3Error('InvalidRequest', {
    message: `${found} must be a field of the form, not a header of the request.`,
  });
}

function readKey(key: string, maximum: number): string {
  const text = asText(key);
  if (text === undefined) throw new S3Error('InvalidObjectName', { message: 'Object keys must be UTF-8.' });
  checkKey(text, maximum);
  return text;
}

/** Reads the tags of a form, which are XML. */
function withTagging(headers: UploadHeaders, tagging: string | undefined, limits: TagLimits): UploadHeaders {
  if (tagging === undefined) return headers;
  if (headers.tags.length > 0) {
    throw new S3Error('InvalidRequest', { message: "The form has both fields 'tagging' and 'x-amz-tagging'." });
  }
  const tags = readTagging(Buffer.from(tagging, 'latin1'), limits);
  return { ...headers, tags: tags.map(({ key, value }) => [key, value] as const) };
}

type Success = { readonly redirect: URL } | { readonly status: 200 | 201 | 204 };

/** Reads the response options. Invalid ones are ignored, as the upload must not fail because of them. */
function readSuccess(fields: Fields): Success {
  const url = asText(fields.get('success_action_redirect') ?? fields.get('redirect') ?? '') ?? '';
  if (/^https?:\/\//i.test(url) && URL.canParse(url)) return { redirect: new URL(url) };
  const status = fields.get('success_action_status');
  return { status: status === '200' ? 200 : status === '201' ? 201 : 204 };
}

function redirection(to: URL, stored: { bucket: string; key: string; etag: string }): string {
  const { bucket, key, etag } = stored;
  const said = `bucket=${encodeURIComponent(bucket)}&key=${encodeURIComponent(key)}&etag=%22${etag}%22`;
  const url = new URL(to);
  url.search = url.search === '' ? said : `${url.search}&${said}`;
  return url.href;
}

/** Decodes UTF-8 given as latin1 characters. Returns undefined for other bytes. */
function asText(bytes: string): string | undefined {
  try {
    return new TextDecoder('utf-8', { fatal: true, ignoreBOM: true }).decode(Buffer.from(bytes, 'latin1'));
  } catch {
    return undefined;
  }
}
