import { S3Error } from '../../shared/errors/s3-error.ts';
import {
  bucketCors,
  corsFields,
  matchCors,
  readCorsRequest,
  varyByOrigin,
  type CorsMatch,
} from '../../shared/protocol/cors.ts';
import { defineOperation } from '../../shared/protocol/operation.ts';
import { methodNotAllowed } from '../../shared/protocol/routes.ts';

/**
 * Answers the preflight request of a browser: OPTIONS on the service, a bucket, an object or a page of a website, which need not
 * exist. It has no credentials, or those of the request that follows, which are not valid for this one.
 * https://docs.aws.amazon.com/AmazonS3/latest/API/RESTOPTIONSobject.html
 */
export const preflight = defineOperation({
  name: 'Preflight',
  on: ['service', 'bucket', 'object', 'website'],
  body: 'none',
  needs: { table: 'read' },
  ignoresCredentials: true,
  parse: ({ fields, method, ...place }) => {
    const request = readCorsRequest(fields, method);
    if (request === undefined) {
      // Websites, which have a host of their own, answer no OPTIONS but preflights.
      if ('host' in place) throw methodNotAllowed('website', method);
      throw insufficient('Insufficient information. Origin request header needed.');
    }
    if (request.method === method) {
      throw insufficient('Insufficient information. Access-Control-Request-Method request header needed.');
    }
    return request;
  },
  authorise: () => [],
  act: async (request, { bucket, buckets }): Promise<CorsMatch> => {
    const rules = bucket && (await bucketCors(bucket, buckets));
    const details = { Method: request.method };
    if (rules === undefined) {
      throw new S3Error('AccessForbidden', { message: 'CORSResponse: CORS is not enabled for this bucket.', details });
    }
    const match = matchCors(rules, request);
    if (match === undefined) throw new S3Error('AccessForbidden', { details });
    return match;
  },
  render: (match, { headers }) => ({
    fields: [
      ...corsFields(match),
      ...(headers.length > 0 ? [['access-control-allow-headers', headers.join(', ')] as const] : []),
      varyByOrigin,
    ],
  }),
});

function insufficient(message: string): S3Error {
  return new S3Error('BadRequest', { message });
}
