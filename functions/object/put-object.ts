import { checkKey } from '../../shared/http/address.ts';
import { parsePreconditions } from '../../shared/http/preconditions.ts';
import { parseWantedEncryption } from '../../shared/protocol/encryption.ts';
import { defineOperation } from '../../shared/protocol/operation.ts';
import { refuseSelection } from '../../shared/protocol/whole-object.ts';
import { storedFields, storeObject } from '../../shared/protocol/store-object.ts';
import { uploadQuestions } from '../../shared/protocol/upload-questions.ts';
import { checkLengthIsGiven, readUploadHeaders } from '../../shared/protocol/upload-headers.ts';

/** https://docs.aws.amazon.com/AmazonS3/latest/API/API_PutObject.html */
export const putObject = defineOperation({
  name: 'PutObject',
  on: 'object',
  body: 'stream',
  needs: { table: 'write', blobs: 'write' },

  parse: (request) => {
    const { bucket, key, fields, query, settings } = request;
    refuseSelection(query);
    checkLengthIsGiven(fields);
    checkKey(key, settings.limits.keyBytes);
    return {
      bucket,
      key,
      encryption: parseWantedEncryption(request),
      headers: readUploadHeaders(fields, settings.limits),
      conditions: parsePreconditions(fields),
      expectedEtag: fields.get('etag')?.replaceAll('"', ''),
    };
  },

  authorise: ({ headers }, request) => uploadQuestions(request, request.fields, headers.tags),
  requestTags: ({ headers }) => headers.tags,

  act: (upload, context) => storeObject(upload, context),

  render: (stored, upload) => ({ fields: storedFields(stored, upload) }),
});
