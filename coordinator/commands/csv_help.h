// `--help csv`: the columns of every CSV file that the program writes, with unit and meaning.
#ifndef COORDINATOR_COMMANDS_CSV_HELP_H_
#define COORDINATOR_COMMANDS_CSV_HELP_H_

#include <cstddef>
#include <string>

namespace iobench {

std::string CsvHelp(size_t columns);  // in lines of at most that many

}  // namespace iobench

#endif  // COORDINATOR_COMMANDS_CSV_HELP_H_
