import type { Answer } from '../operation.ts';

/** 200 without a body that says it is XML, as S3 answers a PUT of a document. */
export function emptyXml(): Answer {
  return { fields: [['content-type', 'application/xml']] };
}
