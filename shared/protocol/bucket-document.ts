import type { Action } from '../access/rights.ts';
import type { DocumentType } from '../documents/schema.ts';
import { S3Error, type PlainErrorCode } from '../errors/s3-error.ts';
import { xmlBody } from './bodies/xml-body.ts';
import type { Limits } from './limits.ts';
import { defineOperation, type Context, type DocumentBody, type Operation, emptyXml } from './operation.ts';
import type { ImplementedName } from './operation-table.ts';

/** An operation on a document, and the action in policies that allows it. */
type Named = readonly [name: ImplementedName, action: Action];

/** A setting of a bucket that is a document of XML. */
interface BucketDocument<Document> {
  readonly get: Named;
  readonly put: Named;
  readonly delete: Named;
  /** The error of GET if there is no such setting. */
  readonly absent: PlainErrorCode;
  /** The limit of the body's length. Default: `documentBytes`. */
  readonly maximum?: keyof Limits;
  readonly document: DocumentType<Document>;
  /** Throws an S3 error for what the limits of the deployment forbid. */
  readonly check?: (document: Document, limits: Limits) => void;
  readonly find: (context: Context<'bucket', 'none'>) => Document | undefined | Promise<Document | undefined>;
  /** @param document undefined: removes the setting */
  readonly store: (context: Context<'bucket', 'none'>, document: Document | undefined) => Promise<unknown>;
}

interface Addressed {
  readonly bucket: string;
}

type OnDocument<Body extends 'none' | DocumentBody<unknown>, Output> = Operation<'bucket', Body, Addressed, Output>;

/** Defines the operations that get, put and delete a setting. */
export function bucketDocument<Document>({ absent, find, store, ...declared }: BucketDocument<Document>): {
  readonly get: OnDocument<'none', Document>;
  readonly put: OnDocument<DocumentBody<Document>, unknown>;
  readonly delete: OnDocument<'none', unknown>;
} {
  const named = ([name, action]: Named) => ({
    name,
    on: 'bucket' as const,
    parse: ({ bucket }: Addressed) => ({ bucket }),
    authorise: ({ bucket }: Addressed) => [{ action, bucket }],
  });
  return {
    get: defineOperation({
      ...named(declared.get),
      body: 'none',
      needs: { table: 'read' },
      act: async (_, context) => {
        const document = await find(context);
        if (document !== undefined) return document;
        throw new S3Error(absent, { details: { BucketName: context.bucket.name } });
      },
      render: (document, _, { settings }) => ({ xml: declared.document.write(document, settings.xmlNamespace) }),
    }),
    put: defineOperation({
      ...named(declared.put),
      body: xmlBody(declared.document, declared.check, declared.maximum),
      needs: { table: 'write' },
      act: (_, context) => store(context, context.document),
      render: emptyXml,
    }),
    delete: defineOperation({
      ...named(declared.delete),
      body: 'none',
      needs: { table: 'write' },
      act: (_, context) => store(context, undefined),
      render: () => ({ status: 204 }),
    }),
  };
}
