// The TypeScript client that speaks 2026-07-28 authorizes itself, in the mode that the test names.

import { clientInfo, journey, mode, modules, url } from './session.mjs';

const { Client, StreamableHTTPClientTransport, UnauthorizedError } = await import(
    `${modules}/@modelcontextprotocol/client/dist/index.mjs`
);

await journey(async (authProvider, remember) => {
    const transport = new StreamableHTTPClientTransport(url, { authProvider });
    remember(transport);
    const client = new Client(clientInfo, { versionNegotiation: { mode } });
    await client.connect(transport);
    return client;
}, UnauthorizedError);
