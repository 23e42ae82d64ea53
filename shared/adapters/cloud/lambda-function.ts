/** A function could not be invoked, or failed: one line that says why, and what to do. */
export class InvocationFailed extends Error {
  constructor(message: string) {
    super(message);
    this.name = 'InvocationFailed';
  }
}

/** Loads the SDK, which is not installed with the package: most who use that have no deployment in the cloud. @throws InvocationFailed */
async function loadSdk(): Promise<typeof import('@aws-sdk/client-lambda')> {
  try {
    return await import('@aws-sdk/client-lambda');
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'ERR_MODULE_NOT_FOUND') throw error;
    throw new InvocationFailed(
      'a deployment in the cloud is reached by the AWS SDK, which is not installed; run: npm install @aws-sdk/client-lambda',
    );
  }
}

/** What errors of the SDK have in common. */
interface SdkError {
  readonly name: string;
  readonly message: string;
}

/**
 * A function of AWS Lambda that somebody invokes by hand, with their own credentials: those of the SDK's usual chain (environment,
 * profile, single sign-on, the machine's role). The SDK is loaded when it is first invoked.
 * https://docs.aws.amazon.com/lambda/latest/api/API_Invoke.html
 */
export class LambdaFunction {
  readonly #name: string;
  readonly #region: string | undefined;

  /**
   * @param name its name or ARN
   * @param region undefined: that of the ARN or, of a name, that of the environment or the profile
   */
  constructor(name: string, region?: string) {
    this.#name = name;
    const [, , , regionOfArn] = name.split(':', 4);
    const { AWS_REGION, AWS_DEFAULT_REGION } = process.env;
    this.#region = [region, regionOfArn, AWS_REGION, AWS_DEFAULT_REGION].find((one) => one !== undefined && one !== '');
  }

  /**
   * Invokes it and waits for its answer. Nothing is sent twice: what failed half-way may have been done.
   * @throws InvocationFailed
   */
  async invoke(payload: object): Promise<unknown> {
    // It would speak of versions of Node.js in between the lines of the program.
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
      return `there is no function ${this.#name} in ${this.#region ?? 'the region of the profile'}: look at the name and the region`;
    }
    if (name === 'CredentialsProviderError') {
      return 'no credentials of AWS were found: set AWS_PROFILE, or AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY';
    }
    if (/region (is missing|not accepted)/i.test(message))
      return 'no region of AWS is known: say --aws-region, or set AWS_REGION';
    const endpoint = process.env['AWS_ENDPOINT_URL_LAMBDA'] ?? process.env['AWS_ENDPOINT_URL'];
    const elsewhere = endpoint === undefined ? '' : `; the environment says that AWS is at ${endpoint}`;
    return `AWS did not invoke ${this.#name}: ${[name, said].filter(Boolean).join(': ')}${elsewhere}`;
  }
}
