import { S3Error } from '../errors/s3-error.ts';
import { Fields } from '../http/message.ts';
import { conditionFields, firstDropped } from '../http/fields/preconditions.ts';
import type { Form } from './bodies/form.ts';
import type { AnyOperation } from './operation.ts';
import { unsupportedHeader } from './unsupported.ts';

/** Methods that change nothing, whose conditions may be ignored (RFC 9110 §13.1). */
export const readingMethods: ReadonlySet<string> = new Set(['GET', 'HEAD', 'OPTIONS']);

/**
 * Returns the conditions that an operation evaluates, for its `parse`. Those of a form are its fields or headers of its request.
 * @throws S3Error InvalidArgument, InvalidRequest (a condition given in both)
 */
export function readConditions({ conditions }: AnyOperation, fields: Fields, form: Form | undefined): unknown {
  return conditions?.read(form ? ofForm(fields, form.headers) : fields);
}

function ofForm(headers: Fields, form: Fields): Fields {
  const all = new Fields();
  for (const name of conditionFields) {
    const field = name.toLowerCase();
    const [header, inForm] = [headers.get(field), form.get(field)];
    if (header !== undefined && inForm !== undefined) {
      throw new S3Error('InvalidRequest', { message: `${name} is both a field of the form and a header.` });
    }
    const value = inForm ?? header;
    if (value !== undefined) all.add(field, value);
  }
  return all;
}

/**
 * Refuses a write with a condition that the operation does not evaluate, rather than carry it out without.
 * @throws S3Error NotImplemented that names the header
 */
export function refuseDropped({ conditions }: AnyOperation, method: string, fields: Fields): void {
  if (readingMethods.has(method)) return;
  const dropped = firstDropped(fields, conditions);
  if (dropped !== undefined) throw unsupportedHeader(dropped);
}
