import type * as Lambda from '@aws-sdk/client-lambda';

/** A function could not be invoked, or failed. The message is one line that says why, and what to do. */
export class InvocationFailed extends Error {
  constructor(message: string) {
    super(message);
    this.name = 'InvocationFailed';
  }
}

/**
 * Loads the SDK, which is not installed with the package because most of its users have no cloud deployment. @throws
 * InvocationFailed
 */
async function loadSdk(): Promise<typeof Lambda> {
  try {
    return await import('@aws-sdk/client-lambda');
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'ERR_MODULE_NOT_FOUND') throw error;
    throw new InvocationFailed(
      'access to a cloud deployment needs the AWS SDK, which is not installed; run: npm install @aws-sdk/client-lambda',
    );
  }
}

/** The common properties of SDK errors. */
interface SdkError {
  readonly name: string;
  readonly message: string;
}

/**
 * An AWS Lambda function that an operator invokes with credentials from the SDK's default chain (environment, profile,
 * single sign-on, the machine's role). Loads the SDK on the first call.
 * https://docs.aws.amazon.com/lambda/latest/api/API_Invoke.html
 */
export class LambdaFunction {
  readonly #name: string;
  readonly #region: string | undefined;

  /**
   * @param name the function's name or ARN
   * @param region default: the region of the ARN, or for a name the region of the environment or the profile
   */
  constructor(name: string, region?: string) {
    this.#name = name;
    const [, , , regionOfArn] = name.split(':', 4);
    const { AWS_REGION, AWS_DEFAULT_REGION } = process.env;
    this.#region = [region, regionOfArn, AWS_REGION, AWS_DEFAULT_REGION].find((one) => one !== undefined && one !== '');
  }

  /**
   * Invokes the function and waits for its response. Never retries, because a failed call may have taken effect.
   * @throws InvocationFailed
   */
  async invoke(payload: object): Promise<unknown> {
    // The SDK would print warnings about Node.js versions among the program's output.
    process.env['AWS_SDK_JS_NODE_VERSION_SUPPORT_WARNING_DISABLED'] ??= 'true';
    const { InvokeCommand, LambdaClient } = await loadSdk();
    const client = new LambdaClient({ maxAttempts: 1, ...(this.#region !== undefined && { region: this.#region }) });
    try {
      const invocation = new InvokeCommand({ FunctionName: this.#name, Payload: Buffer.from(JSON.stringify(payload)) });
      const { FunctionError: failed, Payload: answer = new Uint8Array() } = await client.send(invocation);
      const text = Buffer.from(answer).toString();
      if (failed === undefined) return JSON.parse(text) as unknown;
      const { errorType, errorMessage } = JSON.parse(text) as { errorType?: string; errorMessage?: string };
      const reason = [errorType, errorMessage].filter((part) => part !== undefined).join(': ');
      throw new InvocationFailed(`the function ${this.#name} failed: ${reason}; see its log`);
    } catch (error) {
      if (error instanceof InvocationFailed) throw error;
      throw new InvocationFailed(this.#explained(error as SdkError));
    } finally {
      client.destroy();
    }
  }

  #explained({ name, message }: SdkError): string {
    const said = message.replaceAll(/\s+/g, ' ').trim();
    if (name === 'ResourceNotFoundException') {
      return `there is no function ${this.#name} in ${this.#region ?? 'the region of the profile'}: check the name and the region`;
    }
    if (name === 'CredentialsProviderError') {
      return 'no AWS credentials were found: set AWS_PROFILE, or AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY';
    }
    if (/region (is missing|not accepted)/i.test(message))
      return 'no AWS region is known: pass --aws-region, or set AWS_REGION';
    const endpoint = process.env['AWS_ENDPOINT_URL_LAMBDA'] ?? process.env['AWS_ENDPOINT_URL'];
    const elsewhere = endpoint === undefined ? '' : `; the environment sets the AWS endpoint to ${endpoint}`;
    return `AWS did not invoke ${this.#name}: ${[name, said].filter(Boolean).join(': ')}${elsewhere}`;
  }
}
