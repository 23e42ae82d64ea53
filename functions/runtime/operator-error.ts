/** A mistake of whoever runs the service: shown as one line that says what to do, without a stack. */
export class OperatorError extends Error {
  constructor(message: string) {
    super(message);
    this.name = 'OperatorError';
  }
}
