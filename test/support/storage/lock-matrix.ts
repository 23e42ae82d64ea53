/** What a version may be protected by, one after the other. */
export const lockStates = ['nothing', 'governance', 'compliance', 'legal hold', 'governance and hold'] as const;
export type LockState = (typeof lockStates)[number];

/** What may be asked of a version that is locked, or of its key. */
export const lockedOperations = [
  'DeleteObject of the version',
  'DeleteObjects with the version',
  'DeleteObject of the key',
  'PutObject over it',
  'RenameObject',
  'PutObjectRetention with a later date',
  'PutObjectRetention with an earlier date',
  'PutObjectRetention with the other mode',
  'PutObjectRetention with nothing',
  'PutObjectLegalHold OFF',
] as const;
export type LockedOperation = (typeof lockedOperations)[number];

/**
 * Who gets what they ask for: everybody with the right to the operation, or who may bypass governance and sends
 * `x-amz-bypass-governance-retention: true`, or nobody.
 */
export type Yields = 'yes' | 'bypass' | 'no';

const removal = {
  nothing: 'yes',
  governance: 'bypass',
  compliance: 'no',
  'legal hold': 'no',
  'governance and hold': 'no',
} as const;
const always = {
  nothing: 'yes',
  governance: 'yes',
  compliance: 'yes',
  'legal hold': 'yes',
  'governance and hold': 'yes',
} as const;
const loosened = {
  nothing: 'yes',
  governance: 'bypass',
  compliance: 'no',
  'legal hold': 'yes',
  'governance and hold': 'bypass',
} as const;

/** Whom a version yields to, by what protects it. Where nothing does, a mode and a date are given for the first time, or there is nothing to lift. */
export const lockMatrix: Readonly<Record<LockedOperation, Readonly<Record<LockState, Yields>>>> = {
  'DeleteObject of the version': removal,
  'DeleteObjects with the version': removal,
  'DeleteObject of the key': always,
  'PutObject over it': always,
  RenameObject: always,
  'PutObjectRetention with a later date': always,
  'PutObjectRetention with an earlier date': loosened,
  'PutObjectRetention with the other mode': loosened,
  'PutObjectRetention with nothing': loosened,
  'PutObjectLegalHold OFF': always,
};

/** The matrix as a table of Markdown. */
export function lockTable(): string {
  const row = (cells: readonly string[]): string => `| ${cells.join(' | ')} |`;
  const rows = lockedOperations.map((operation) =>
    row([operation, ...lockStates.map((state) => lockMatrix[operation][state])]),
  );
  return [
    row(['request', ...lockStates]),
    row(Array.from({ length: 1 + lockStates.length }, () => '---')),
    ...rows,
  ].join('\n');
}
