import type { Answer } from '../operation.ts';

/** Returns a 200 response with an XML content type and no body, as S3 sends after a PUT of a document. */
export function emptyXml(): Answer {
  return { fields: [['content-type', 'application/xml']] };
}
