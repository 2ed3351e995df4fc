"""The lake for assistants: a server of the Model Context Protocol with tools that only read. In: a lake. Out: answers over stdin and stdout."""
