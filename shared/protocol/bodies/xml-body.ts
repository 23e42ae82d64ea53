import type { DocumentType } from '../../documents/schema.ts';
import { parseXml, readDocument } from '../../xml/reader.ts';
import type { Limits } from '../limits.ts';
import type { DocumentBody } from '../operation.ts';

/**
 * A body that is a document of XML.
 * @param check throws an S3 error for what the limits of the deployment forbid
 */
export function xmlBody<Value>(
  type: DocumentType<Value>,
  check?: (value: Value, limits: Limits) => void,
  maximum: keyof Limits = 'documentBytes',
): DocumentBody<Value> {
  return {
    maximum,
    read: async (bytes, { limits }, budget) => {
      const value = readDocument(await parseXml(bytes, budget), type);
      check?.(value, limits);
      return value;
    },
  };
}

/** A document that may be absent, or empty. */
export function optionalXmlBody<Value>(
  type: DocumentType<Value>,
  check?: (value: Value, limits: Limits) => void,
): DocumentBody<Value | undefined> {
  const body = xmlBody(type, check);
  return {
    ...body,
    optional: true,
    read: (bytes, ...others) => (bytes.byteLength === 0 ? undefined : body.read(bytes, ...others)),
  };
}
