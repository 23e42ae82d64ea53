/** A mistake of the operator, shown without a stack as one line that says what to do. */
export class OperatorError extends Error {
  constructor(message: string) {
    super(message);
    this.name = 'OperatorError';
  }
}
