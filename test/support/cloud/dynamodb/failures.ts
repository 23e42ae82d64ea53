/** A refusal of DynamoDB: https://docs.aws.amazon.com/amazondynamodb/latest/developerguide/Programming.Errors.html */
export class Refusal extends Error {
  /** The name of the exception: `ValidationException`. */
  readonly type: string;
  /** Fields of the answer besides type and message: reasons, the item of a failed condition. */
  readonly fields: object;

  constructor(type: string, message: string, fields: object = {}) {
    super(message);
    this.name = type;
    this.type = type;
    this.fields = fields;
  }

  get body(): object {
    return { __type: `com.amazonaws.dynamodb.v20120810#${this.type}`, message: this.message, ...this.fields };
  }
}

/** Returns the refusal of a request that is wrong in itself. */
export function invalid(message: string): Refusal {
  return new Refusal('ValidationException', message);
}

/** Refuses parameters that this engine does not know: DynamoDB would do something about them. */
export function allowOnly(input: object, known: readonly string[]): void {
  const unknown = Object.keys(input).filter((name) => !known.includes(name));
  if (unknown.length > 0) throw new Refusal('NotImplemented', `the engine of the tests lacks ${unknown.join(', ')}`);
}
