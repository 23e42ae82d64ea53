/** A mistake of the operator, shown without a stack as one line that says what to do. */
export class OperatorError extends Error {
  /** Of the program. */
  readonly exitCode: number = 1;

  constructor(message: string) {
    super(message);
    this.name = 'OperatorError';
  }
}

/** A command line, or a variable in its place, that makes no sense: the program ends with 2, as for an unknown option. */
export class UsageError extends OperatorError {
  override readonly exitCode = 2;
}
