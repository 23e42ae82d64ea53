import {
  checkCanonicalId,
  checkKeyId,
  checkName,
  parseProjectName,
  parseUserName,
} from '../../shared/access/account-names.ts';
import { bucketName, checked, read, type ValueType } from '../../shared/command-line/option-values.ts';
import { checkBucketName } from '../../shared/http/bucket-name.ts';

/** An operand of a command, and its type; `[name]` is optional. A value that cannot be meant is refused before anything happens. */
export type Operand = readonly [syntax: string, description: string, type: ValueType<string, string>];

/** Any text but none. */
export const word = read((text, refuse) => (text === '' ? refuse('Must not be empty.') : text));

export const customer: Operand = ['<customer>', 'name of the customer', checked((name) => checkName('customer', name))];
export const newProject: Operand = ['<project>', 'project@customer', checked(parseProjectName)];
export const project: Operand = [
  '<project>',
  'project@customer, or its canonical user id',
  checked((name) => (name.includes('@') ? parseProjectName(name) : checkCanonicalId(name))),
];
export const user: Operand = ['<user>', 'project:user@customer', checked(parseUserName)];
export const userOrProject: Operand = [
  '<user or project>',
  'project:user@customer or project@customer',
  checked((name) => (name.includes(':') ? parseUserName(name) : parseProjectName(name))),
];
export const key: Operand = ['<key id>', 'access key id', checked(checkKeyId)];
export const bucket: Operand = ['<bucket>', 'name of the bucket', bucketName];
export const projectOrBucket: Operand = [
  '<project or bucket>',
  'project@customer, or the name of a bucket',
  checked((name) => (name.includes('@') ? parseProjectName(name) : checkBucketName(name))),
];

/** Returns an operand that is one of some words. */
export function oneOf(name: string, words: readonly string[]): Operand {
  const listed = words.join(', ');
  return [
    `<${name}>`,
    listed,
    read((text, refuse) => (words.includes(text) ? text : refuse(`Must be one of ${listed}.`))),
  ];
}

/** Returns the operand as one that may be left out. */
export function optionally([syntax, ...rest]: Operand): Operand {
  return [syntax.replace('<', '[').replace('>', ']'), ...rest];
}
